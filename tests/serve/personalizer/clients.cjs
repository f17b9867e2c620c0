// Calls a service with npm's two clients of Personalizer, and tells what it was answered as JSON.
const { default: createClient } = require("@azure-rest/ai-personalizer");
const { PersonalizerClient } = require("@azure/cognitiveservices-personalizer");
const { ApiKeyCredentials } = require("@azure/ms-rest-js");

const [endpoint, key] = process.argv.slice(2);
const request = (eventId) => ({
  eventId,
  contextFeatures: [{ hour: 9 }, { user: { age: 31 } }],
  actions: [
    { id: "tea", features: [{ price: 3.5 }] },
    { id: "juice", features: [{ price: 3.0 }] },
  ],
  excludedActions: ["tea"],
  deferActivation: true,
});

async function first() {
  const credentials = new ApiKeyCredentials({ inHeader: { "Ocp-Apim-Subscription-Key": key } });
  const client = new PersonalizerClient(credentials, endpoint);
  const told = await client.rank(request("first/1"));
  await client.events.activate("first/1");
  await client.events.reward("first/1", { value: 1.0 });
  const refused = await client.rank({ actions: [] }).catch((error) => error.body.error.code);
  return { ranking: told.ranking, eventId: told.eventId, rewardActionId: told.rewardActionId, refused };
}

async function second() {
  const client = createClient(endpoint, { key }, { allowInsecureConnection: true });
  const insecure = { allowInsecureConnection: true };
  const told = await client.path("/rank").post({ body: request("second/1"), ...insecure });
  const at = ["/events/{eventId}/reward", "second/1"];
  const rewarded = await client.path(...at).post({ body: { value: 1.0 }, ...insecure });
  const activated = await client.path("/events/{eventId}/activate", "second/1").post(insecure);
  const settings = await client.path("/configurations/service").get(insecure);
  const refused = await client.path("/rank").post({ body: { actions: [] }, ...insecure });
  return {
    ...told.body,
    statuses: [told, rewarded, activated, settings, refused].map((answer) => answer.status),
    mode: settings.body.learningMode,
    refused: refused.body.error.code,
  };
}

Promise.all([first(), second()]).then((told) => console.log(JSON.stringify(told)));

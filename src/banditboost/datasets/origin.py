"""Where each data set comes from: its title, its address at UCI, its licence, whom to credit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """What to print beside a data set."""

    title: str
    uci_id: int
    doi: str | None
    credit: str
    licence: str = "CC BY 4.0"

    @property
    def url(self) -> str:
        return f"https://archive.ics.uci.edu/dataset/{self.uci_id}"

    @property
    def source(self) -> str:
        """One line: title, makers, address."""
        address = f"https://doi.org/{self.doi}" if self.doi else self.url
        return f"{self.title}, {self.credit}, {address}"


ORIGINS = {
    "balance": Origin("Balance Scale", 12, "10.24432/C5488X", "Siegler 1976 (UCI 1994)"),
    "car": Origin("Car Evaluation", 19, "10.24432/C5JP48", "Bohanec 1988 (UCI 1997)"),
    "nursery": Origin("Nursery", 76, "10.24432/C5P88W", "Rajkovic 1989 (UCI 1997)"),
    "movement": Origin(
        "Wearable Computing: Classification of Body Postures and Movements (PUC-Rio)",
        250,
        None,
        "Ugulino, Cardador, Vega, Velloso, Milidiu, Fuks 2012",
        "CC BY 4.0 at UCI; the makers' page says CC BY-SA, so credit the makers",
    ),
    "mice": Origin("Mice Protein Expression", 342, "10.24432/C50S3Z", "Higuera, Gardiner, Cios 2015"),
    "isolet": Origin("ISOLET", 54, "10.24432/C51G69", "Cole, Fanty 1990 (UCI 1994)"),
}
"""In the order of the paper's tables."""

"""MixFull and MixBandit: Adaboost.OLM++, in which each learner's weight is a mixture over all of [-2, 2].

Foster, Kale, Luo, Mohri and Sridharan, *Logistic Regression: The Importance of Being Improper*, COLT 2018.
Where AdaFull takes gradient steps of one alpha, every learner here holds a density over alpha, and s^i is the
logarithm of the mean of softmax(s^{i-1} + alpha e_h) over it. With bandit feedback the density hears the
estimated loss in place of the loss (docs/mixture.md).

Where to look:

    booster.py   the two classes
    round.py     lines 5 to 17 of Algorithm 1: how a label is chosen, and what a verdict teaches
    chain.py     softmax(s) while votes are added: experts, smoothing, edges
    density.py   the density over one weight, and how it is integrated
"""

"""Writes scipy.json: what SciPy says of the samples that oracle.test.ts gives to src/stats.

Run: python3 test/stats/oracles/make.py
"""

import json
import platform
import warnings
from pathlib import Path

import numpy as np
import scipy
from scipy import special, stats

warnings.filterwarnings("ignore")
RANDOM = np.random.RandomState(20260101)
SIDES = {"two-sided": "two-sided", "slower": "greater", "faster": "less"}


def lognormal(n, shift=0.0, sigma=0.7, decimals=3):
    return np.round(shift + RANDOM.lognormal(3, sigma, n), decimals).tolist()


def normal(n, mean, sd, decimals=3):
    return np.round(RANDOM.normal(mean, sd, n), decimals).tolist()


def whole(n, largest, least=0):
    return RANDOM.randint(least, largest + 1, n).tolist()


PAIRS = [
    ("five against five, apart", [1, 2, 3, 4, 5], [6, 7, 8, 9, 10]),
    ("five against five, interleaved", [1, 3, 5, 7, 9], [2, 4, 6, 8, 10]),
    ("one against one", [1], [2]),
    ("one against seven", [4.5], [1, 2, 3, 5, 6, 7, 8]),
    ("seven against one", [1, 2, 3, 5, 6, 7, 8], [0.5]),
    ("a few ties", [1, 2, 2, 3, 5, 8], [2, 3, 3, 4, 8, 9, 9, 11]),
    ("only three values", whole(14, 2), whole(23, 2)),
    ("mostly one value", [7] * 20 + [8], [7] * 9 + [8, 8, 8]),
    ("negative and fractional", normal(9, -3, 2), normal(13, -1, 2)),
    ("same median, other spread", normal(31, 100, 2), normal(29, 100, 15)),
    ("log-normal, slower", lognormal(20), lognormal(30, shift=6)),
    ("log-normal, faster", lognormal(48, shift=5), lognormal(33)),
    ("log-normal, large and unequal", lognormal(12), lognormal(150, shift=2)),
    ("whole milliseconds", whole(60, 12), whole(45, 15, least=1)),
    ("far apart", normal(80, 10, 1), normal(70, 100, 1)),
]


def without_ties(*samples):
    pooled = np.concatenate(samples)
    return len(np.unique(pooled)) == len(pooled)


def mann_whitney(before, after, method):
    return {
        ours: stats.mannwhitneyu(after, before, alternative=theirs, method=method).pvalue
        for ours, theirs in SIDES.items()
    }


def pair(name, before, after):
    found = {
        "name": name,
        "before": before,
        "after": after,
        "u": stats.mannwhitneyu(after, before).statistic,
        "asymptotic": mann_whitney(before, after, "asymptotic"),
        "wasserstein": stats.wasserstein_distance(before, after),
    }
    if without_ties(before, after):
        found["exact"] = mann_whitney(before, after, "exact")
    return found


def fisher():
    tables = [
        (1, 10, 8, 10), (8, 10, 1, 10), (0, 10, 4, 10), (3, 100, 2, 9), (9, 100, 2, 9),
        (0, 5, 0, 9), (5, 5, 9, 9), (1, 1, 0, 1), (2, 40, 9, 31), (50, 1000, 90, 1200),
        (4, 1000, 3, 20), (500, 100_000, 620, 100_000), (10, 100, 90, 100), (7, 8, 1, 30),
    ]
    found = []
    for s1, n1, s2, n2 in tables:
        table = [[s2, n2 - s2], [s1, n1 - s1]]
        p = {side: stats.fisher_exact(table, alternative=side).pvalue for side in SIDES.values()}
        found.append({
            "table": [s1, n1, s2, n2],
            "p": p["two-sided"], "pMore": p["greater"], "pFewer": p["less"],
        })
    return found


def chi_square():
    tables = [
        ([30, 20, 10], [20, 20, 20]), ([5, 5], [9, 1]), ([100, 1, 3, 0], [80, 4, 2, 7]),
        ([1000, 2000, 500, 30], [500, 1500, 700, 60]), ([12, 7], [12, 7]),
        (whole(12, 40, least=1), whole(12, 60, least=1)), ([90_000, 10], [50_000, 900]),
    ]
    found = []
    for before, after in tables:
        result = stats.chi2_contingency([before, after], correction=False)
        found.append({
            "before": before, "after": after,
            "statistic": result.statistic, "df": result.dof, "p": result.pvalue,
            "expectedMin": result.expected_freq.min(),
        })
    return found


def bootstrap():
    def measure(of):
        return lambda x, y, axis: of(y, axis=axis) - of(x, axis=axis)

    before, after = lognormal(25, sigma=1), lognormal(40, shift=5, sigma=1)
    found = []
    for name, of in (("mean", np.mean), ("median", np.median)):
        for level in (0.95, 0.8):
            interval = stats.bootstrap(
                (before, after), measure(of), vectorized=True, n_resamples=99_999, batch=9_999,
                confidence_level=level, method="percentile", rng=np.random.default_rng(7),
            ).confidence_interval
            found.append({
                "measure": name, "level": level, "low": interval.low, "high": interval.high,
            })
    return {"before": before, "after": after, "intervals": found}


GAMMA = [
    (a, x)
    for a in (0.5, 1, 1.5, 2, 3, 5, 10, 30, 100, 1000, 10_000)
    for x in (a * 0.01, a * 0.5, a * 0.99, a, a + 1, a * 1.1, a * 2)
] + [(0.5, 200), (3, 300), (0.01, 0.5), (1e-5, 1), (0.1, 20)]
BETA = [
    (a, b, x)
    for a in (0.5, 1, 2.5, 10, 500, 50_000)
    for b in (0.5, 1, 7, 300)
    for x in (1e-12, 0.001, 0.2, 0.5, 0.8, 0.99, 0.99999)
]
PROBABILITIES = [
    1e-300, 1e-100, 1e-20, 1e-11, 1e-10, 1e-5, 0.001, 0.025, 0.074, 0.075, 0.076, 0.1, 0.3, 0.5,
    0.6, 0.9, 0.924, 0.926, 0.975, 0.999, 1 - 1e-9,
]
TAILS = [-40, -8, -3, -1.5, -0.4, 0, 1e-9, 0.3, 0.66, 0.67, 1, 1.96, 3, 5.6, 5.7, 8, 15, 30, 37]

written = {
    "madeBy": "test/stats/oracles/make.py",
    "versions": {
        "scipy": scipy.__version__, "numpy": np.__version__, "python": platform.python_version(),
    },
    "pairs": [pair(*each) for each in PAIRS],
    "fisher": fisher(),
    "chiSquare": chi_square(),
    "bootstrap": bootstrap(),
    "gammaQ": [[a, x, float(special.gammaincc(a, x))] for a, x in GAMMA],
    "incompleteBeta": [
        [a, b, x, value]
        for a, b, x in BETA
        if (value := float(special.betainc(a, b, x))) > 1e-290
    ],
    "normalQuantile": [[p, float(stats.norm.ppf(p))] for p in PROBABILITIES],
    "normalTail": [[z, float(stats.norm.sf(z))] for z in TAILS],
}
target = Path(__file__).with_name("scipy.json")
target.write_text(json.dumps(written, default=float, separators=(",", ":")) + "\n")
print(target, target.stat().st_size)

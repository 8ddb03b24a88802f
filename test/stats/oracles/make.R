# Writes r.json: what R says of the samples that oracle.test.ts gives to src/stats.
# Base R only; van Elteren's test is written out by its formula, with R's ranks.
#
# Run: Rscript test/stats/oracles/make.R

set.seed(20260101)

json <- function(x) {
  if (is.list(x)) {
    inner <- vapply(x, json, "")
    if (is.null(names(x))) return(paste0("[", paste(inner, collapse = ","), "]"))
    return(paste0("{", paste0('"', names(x), '":', inner, collapse = ","), "}"))
  }
  if (is.character(x)) return(paste0('"', x, '"'))
  numbers <- vapply(x, function(each) format(each, digits = 17), "")
  numbers <- ifelse(is.finite(x), trimws(numbers), paste0('"', x, '"'))
  if (length(x) == 1 && is.null(attr(x, "many"))) return(numbers)
  paste0("[", paste(numbers, collapse = ","), "]")
}
many <- function(x) structure(as.numeric(x), many = TRUE)

# Wilcoxon's rank sum test: p with ties, Hodges-Lehmann shift and interval.
sides <- c("two-sided" = "two.sided", slower = "greater", faster = "less")
wilcoxon <- function(name, before, after, level = 0.95) {
  p <- lapply(sides, function(side) {
    suppressWarnings(wilcox.test(after, before, alternative = side, exact = FALSE))$p.value
  })
  tied <- anyDuplicated(c(before, after)) > 0
  interval <- function(exact) {
    found <- suppressWarnings(wilcox.test(after, before,
      exact = exact, conf.int = TRUE, conf.level = level, tol.root = 1e-12
    ))
    list(shift = unname(found$estimate), low = found$conf.int[1], high = found$conf.int[2])
  }
  differences <- outer(after, before, "-")
  c(
    list(name = name, before = many(before), after = many(after), level = level, p = p),
    list(medianDifference = median(differences)),
    if (!tied) list(asymptotic = interval(FALSE), exact = interval(TRUE))
  )
}
wilcoxons <- list(
  wilcoxon("untied, 9 against 12", round(rlnorm(9, 3), 4), round(rlnorm(12, 3.5), 4)),
  wilcoxon("untied, 30 against 17, faster", round(rnorm(30, 60, 9), 4), round(rnorm(17, 48, 9), 4)),
  wilcoxon("untied, 45 against 40, 90 %", round(rlnorm(45, 4), 5), round(rlnorm(40, 4), 5), 0.9),
  wilcoxon("untied, 6 against 31, 99 %", round(rnorm(6, 1), 6), round(rnorm(31, 2), 6), 0.99),
  wilcoxon("tied, 25 against 19", round(rlnorm(25, 2)), round(rlnorm(19, 2.5))),
  wilcoxon("three values, 40 against 60", sample(0:2, 40, TRUE), sample(0:2, 60, TRUE)),
  wilcoxon("one against four", 3, c(1, 4, 4, 9))
)

# Van Elteren 1960: strata weighted 1 / (N + 1), midranks, variance given the ties.
van_elteren <- function(strata) {
  parts <- vapply(strata, function(stratum) {
    pooled <- c(stratum$before, stratum$after)
    ranks <- rank(pooled)
    n1 <- length(stratum$before)
    n2 <- length(stratum$after)
    n <- n1 + n2
    sum_after <- sum(ranks[n1 + seq_len(n2)])
    # The variance of a rank sum drawn without replacement from these very ranks.
    c(
      u = (sum_after - n2 * (n2 + 1) / 2) / (n + 1),
      rank_sum = sum_after / (n + 1),
      mean = n2 * mean(ranks) / (n + 1),
      variance = n1 * n2 / n * var(ranks) / (n + 1)^2,
      pairs = n1 * n2 / (n + 1)
    )
  }, c(u = 0, rank_sum = 0, mean = 0, variance = 0, pairs = 0))
  total <- rowSums(parts)
  z <- unname((total["rank_sum"] - total["mean"]) / sqrt(total["variance"]))
  list(
    strata = unname(lapply(strata, function(s) list(before = many(s$before), after = many(s$after)))),
    statistic = unname(total["u"]), z = z,
    p = list("two-sided" = 2 * pnorm(-abs(z)), slower = pnorm(-z), faster = pnorm(z)),
    probabilitySlower = unname(total["u"] / total["pairs"]),
    shift = stratified_shift(strata)
  )
}

# All differences within strata, listed and weighted; the weighted median.
stratified_shift <- function(strata) {
  listed <- do.call(rbind, lapply(strata, function(s) {
    d <- as.vector(outer(s$after, s$before, "-"))
    data.frame(d = d, weight = 1 / (length(s$before) + length(s$after) + 1))
  }))
  listed <- listed[order(listed$d), ]
  share <- cumsum(listed$weight) / sum(listed$weight)
  lower <- listed$d[which(share >= 0.5 - 1e-12)[1]]
  upper <- listed$d[which(share > 0.5 + 1e-12)[1]]
  (lower + upper) / 2
}
stratum <- function(before, after) list(before = before, after = after)
elterens <- list(
  van_elteren(list(
    stratum(c(1, 2, 3, 4, 5), c(4, 5, 6, 7, 8)),
    stratum(c(100, 200, 300), c(250, 350, 450, 550))
  )),
  van_elteren(list(
    stratum(round(rlnorm(20, 2)), round(rlnorm(31, 2.2))),
    stratum(round(rlnorm(7, 5)), round(rlnorm(4, 5.2))),
    stratum(1000, c(990, 1020))
  )),
  van_elteren(list(stratum(round(rnorm(15, 9), 3), round(rnorm(11, 8), 3)))),
  van_elteren(list(stratum(c(1, 1, 1, 2), c(1, 2, 2)), stratum(c(5, 6), c(4, 4, 4, 5))))
)

# Haberman's residuals.
residuals_of <- function(before, after) {
  found <- suppressWarnings(chisq.test(rbind(before, after), correct = FALSE))
  list(
    before = many(before), after = many(after), statistic = unname(found$statistic),
    p = found$p.value, residuals = many(found$stdres[2, ])
  )
}
chi_squares <- list(
  residuals_of(c(30, 20, 10), c(20, 20, 20)),
  residuals_of(c(100, 1, 3, 0), c(80, 4, 2, 7)),
  residuals_of(c(5, 5), c(9, 1))
)

written <- list(
  madeBy = "test/stats/oracles/make.R",
  versions = list(R = paste(R.version$major, R.version$minor, sep = ".")),
  wilcoxon = wilcoxons, vanElteren = elterens, chiSquare = chi_squares
)
target <- file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "r.json")
writeLines(json(written), target)
cat(target, file.size(target), "\n")

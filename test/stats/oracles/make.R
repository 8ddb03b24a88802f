# Writes r.json: what R says of the samples that oracle.test.ts gives to src/stats.
# Base R, and limma (r-bioc-limma of Debian) for squeezed variances; van Elteren's test is written
# out by its formula, with R's ranks.
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

# limma's moderated variances; df is what eBayes gives the t-test: never more than all together.
squeezed <- function(name, variances, df) {
  found <- suppressWarnings(limma::squeezeVar(variances, df))
  list(
    name = name, variances = many(variances), df = many(df),
    prior = found$var.prior, priorDf = found$df.prior, moderated = many(found$var.post),
    moderatedDf = many(pmin(found$df.prior + df, sum(df)))
  )
}
drawn <- function(n, prior, prior_df, df) {
  prior * prior_df / rchisq(n, prior_df) * rchisq(n, df) / df
}
various <- sample(1:40, 60, TRUE)
squeezes <- list(
  squeezed("four, one far off", c(1, 1.2, 0.9, 8), rep(3, 4)),
  squeezed("two that agree: infinite prior df", c(2, 2.5), c(4, 6)),
  squeezed("two far apart", c(0.01, 30), c(4, 6)),
  squeezed("one alone", 7, 5),
  squeezed("all equal: infinite prior df", rep(3, 6), c(2, 4, 6, 8, 10, 12)),
  squeezed("one variance, chi-square: infinite prior df", qchisq((1:9) / 10, 5) / 5, rep(5, 9)),
  squeezed("prior of 4 df, 3 df each", drawn(50, 2, 4, 3), rep(3, 50)),
  squeezed("prior of 30 df, 8 df each", drawn(80, 0.02, 30, 8), rep(8, 80)),
  squeezed("prior of 1 df, 1 df each", drawn(40, 5, 1, 1), rep(1, 40)),
  squeezed("prior of 6 df, various df", drawn(60, 100, 6, various), various),
  squeezed("large, prior of 3 df, thousands of df", drawn(30, 1e9, 3, 5000), rep(5000, 30)),
  squeezed("small, fractions of df", drawn(20, 1e-9, 5, 2.5), rep(2.5, 20))
)

# limma's moderated t of one run after against several before, each measure one level a run.
between_runs <- function(name, levels) {
  after <- c(rep(0, ncol(levels) - 1), 1)
  fit <- limma::eBayes(limma::lmFit(levels, cbind(1, after)))
  list(
    name = name, levels = lapply(seq_len(nrow(levels)), function(i) many(levels[i, ])),
    shift = many(fit$coefficients[, 2]), t = many(fit$t[, 2]), df = many(fit$df.total)
  )
}
run_levels <- function(measures, runs, spread) {
  sd <- sqrt(spread * 5 / rchisq(measures, 5))
  matrix(rnorm(measures * (runs + 1), 3, sd), measures)
}
set.seed(18)
runs_compared <- list(
  between_runs("3 runs, 20 measures", run_levels(20, 3, 0.01)),
  between_runs("5 runs, 60 measures", run_levels(60, 5, 0.0025)),
  between_runs("8 runs, 6 measures", run_levels(6, 8, 0.04))
)

# Columns of a table: before, after; rows: made, not made.
counted <- function(..., exact = FALSE) {
  tables <- list(...)
  both <- vapply(tables, function(t) matrix(c(t[1], t[2] - t[1], t[3], t[4] - t[3]), 2), matrix(0, 2, 2))
  found <- mantelhaen.test(array(both, c(2, 2, length(tables))), correct = TRUE, exact = exact)
  statistic <- if (exact) list() else list(statistic = unname(found$statistic))
  c(list(tables = lapply(tables, many)), statistic, list(p = found$p.value))
}
mantel_haenszels <- list(
  counted(c(3, 10, 9, 12), c(5, 20, 11, 15)),
  counted(c(1, 100, 4, 90), c(0, 50, 3, 70), c(2, 10, 2, 9)),
  counted(c(30, 40, 10, 60), c(1, 2, 1, 1), c(200, 500, 190, 480), c(7, 9, 3, 8)),
  counted(c(5, 10, 5, 10), c(8, 20, 8, 20)),
  counted(c(2, 8, 3, 9), c(4, 11, 3, 11)),
  counted(c(0, 300, 40, 280), c(0, 12, 5, 17))
)
exacts <- list(
  counted(c(3, 10, 9, 12), c(5, 20, 11, 15), exact = TRUE),
  counted(c(0, 5, 3, 8), c(1, 40, 2, 9), c(0, 7, 1, 1), exact = TRUE),
  counted(c(0, 900, 5, 100), c(2, 400, 3, 50), exact = TRUE),
  counted(c(8, 10, 0, 12), c(2, 4, 0, 17), exact = TRUE)
)
fishers <- lapply(
  list(c(3, 4, 1, 4), c(0, 182, 31, 160), c(10, 10, 2, 9), c(400, 1000, 460, 1000), c(1, 5000, 9, 4000)),
  function(t) {
    list(table = many(t), p = fisher.test(matrix(c(t[1], t[2] - t[1], t[3], t[4] - t[3]), 2))$p.value)
  }
)

written <- list(
  madeBy = "test/stats/oracles/make.R",
  versions = list(
    R = paste(R.version$major, R.version$minor, sep = "."),
    limma = as.character(packageVersion("limma"))
  ),
  wilcoxon = wilcoxons, vanElteren = elterens, chiSquare = chi_squares,
  squeezeVar = squeezes, betweenRuns = runs_compared, mantelHaenszel = mantel_haenszels, mantelHaenszelExact = exacts, fisher = fishers
)
target <- file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "r.json")
writeLines(json(written), target)
cat(target, file.size(target), "\n")

# Writes change-point.json: what strucchange (r-cran-strucchange of Debian) says of one change of level.
#
# Run: Rscript test/stats/oracles/change-point.R

suppressMessages(library(strucchange))
set.seed(20260102)

list_of <- function(x) paste0("[", paste(format(x, digits = 17, trim = TRUE), collapse = ","), "]")
case <- function(name, values) {
  found <- breakpoints(breakpoints(values ~ 1, h = 2), breaks = 1)
  process <- efp(values ~ 1, type = "OLS-CUSUM")
  test <- sctest(process)
  paste0(
    '{"name":"', name, '","values":', list_of(values), ',"at":', found$breakpoints,
    ',"statistic":', format(unname(test$statistic), digits = 17), ',"p":', format(test$p.value, digits = 17), "}"
  )
}
cases <- c(
  case("flow of the Nile, 1871 to 1970: changes with 1899", as.numeric(Nile)),
  case("errors, none and then one in six", c(rep(0, 60), rep(c(0, 0, 1, 0, 0, 0), 12))),
  case("one level", round(rnorm(50, 100, 5), 3)),
  case("a small step among noise", round(c(rnorm(120, 10), rnorm(40, 10.8)), 3)),
  case("a fall with ties", c(sample(5:8, 25, TRUE), sample(2:5, 33, TRUE)))
)
target <- file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "change-point.json")
writeLines(paste0(
  '{"madeBy":"test/stats/oracles/change-point.R","versions":{"strucchange":"', packageVersion("strucchange"),
  '"},"cases":[', paste(cases, collapse = ",\n"), "]}"
), target)

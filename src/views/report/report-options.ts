/** What reports can be told. */
export interface ReportOptions {
  /**
   * Where traces can be looked at: a template with `{traceId}`, or `jaeger=`, `tempo=`, `zipkin=` and
   * an address; see `traceTemplate`. Default: ids without links.
   */
  readonly traceUrl?: string | undefined
  /** What was compared, to be named in the report. Default: not named. */
  readonly files?:
    | { readonly before: readonly string[]; readonly after: readonly string[] }
    | undefined
  /** The program and its version. Default `flowdelta`. */
  readonly madeBy?: string
}

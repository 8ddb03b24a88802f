const TRACE_KEY =
  /"(resourceSpans|resource_spans|scopeSpans|scope_spans|instrumentationLibrarySpans|batches|traceID|spanID|processes|traceId|localEndpoint)"\s*:/

/**
 * The first key in a piece of JSON by which trace formats are told apart. The first counts: names
 * further in may be anybody's.
 */
export function firstTraceKey(head: string): string | undefined {
  return /^[\s\uFEFF]*[[{]/.test(head) ? TRACE_KEY.exec(head)?.[1] : undefined
}

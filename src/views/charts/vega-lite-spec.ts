/**
 * A Vega-Lite specification. Deliberately loose: flowdelta's own charts are validated against
 * Vega-Lite's schema in tests, and a cell must be able to change any part of one.
 */
export interface VegaLiteSpec {
  $schema?: string
  [property: string]: unknown
}

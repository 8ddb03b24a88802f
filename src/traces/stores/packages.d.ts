// Of packages that are loaded when they are used, what is used here: the rest compiles without them.

declare module '@clickhouse/client' {
  export interface ClickHouseClient {
    query(asked: {
      readonly query: string
      readonly query_params: Readonly<Record<string, unknown>>
      readonly format: 'JSONCompactEachRow'
      readonly abort_signal?: AbortSignal
    }): Promise<{
      stream(): AsyncIterable<readonly { readonly text: string; json(): unknown }[]>
    }>
    close(): Promise<void>
  }
  export const ClickHouseLogLevel: { readonly OFF: 127 }
  export function createClient(options: {
    readonly url: string
    readonly database?: string
    readonly username?: string
    readonly password?: string
    readonly access_token?: string
    readonly request_timeout: number
    readonly application: string
    readonly log: { readonly level: 127 }
  }): ClickHouseClient
}

declare module 'fzstd' {
  export function decompress(bytes: Uint8Array): Uint8Array
  export class Decompress {
    constructor(onData: (bytes: Uint8Array, isLast?: boolean) => void)
    push(bytes: Uint8Array, isLast?: boolean): void
  }
}

declare module '@duckdb/node-api' {
  export interface DuckDBConnection {
    runAndReadAll(sql: string): Promise<{ getRowObjectsJS(): Record<string, unknown>[] }>
    interrupt(): void
    closeSync(): void
  }
  export class DuckDBInstance {
    static create(path: string, options: Readonly<Record<string, string>>): Promise<DuckDBInstance>
    connect(): Promise<DuckDBConnection>
    closeSync(): void
  }
}

declare module 'hyparquet' {
  export interface AsyncBuffer {
    readonly byteLength: number
    slice(start: number, end?: number): Promise<ArrayBuffer>
  }
  export interface SchemaElement {
    readonly name: string
    readonly type?: string
    readonly repetition_type?: 'REQUIRED' | 'OPTIONAL' | 'REPEATED'
    readonly logical_type?: { readonly type: string; readonly unit?: string }
    readonly converted_type?: string
    readonly num_children?: number
  }
  export interface ColumnChunk {
    readonly meta_data?: {
      readonly path_in_schema: readonly string[]
      readonly num_values?: bigint
      readonly statistics?: { readonly min_value?: unknown; readonly max_value?: unknown }
    }
  }
  export interface RowGroup {
    readonly columns: readonly ColumnChunk[]
    readonly num_rows: bigint
  }
  export interface FileMetaData {
    readonly schema: readonly SchemaElement[]
    readonly num_rows: bigint
    readonly row_groups: readonly RowGroup[]
    readonly key_value_metadata?: readonly { readonly key: string; readonly value?: string }[]
  }
  export function parquetMetadataAsync(file: AsyncBuffer): Promise<FileMetaData>
  export function parquetRead(options: {
    readonly file: AsyncBuffer
    readonly metadata: FileMetaData
    readonly compressors: object
    readonly parsers: Readonly<Record<string, (value: never) => unknown>>
    readonly onPage: (page: { readonly columnData: ArrayLike<unknown> }) => void
  }): Promise<void>
}

declare module 'hyparquet-compressors' {
  export const compressors: object
}

declare module 'hyparquet-writer' {
  export interface Column {
    readonly name: string
    readonly data: ArrayLike<unknown>
    readonly encoding?: string
  }
  export class ParquetWriter {
    constructor(options: {
      readonly writer: object
      readonly schema: readonly object[]
      readonly kvMetadata: readonly { readonly key: string; readonly value: string }[]
      readonly createdBy: string
    })
    write(part: { readonly columnData: readonly Column[]; readonly rowGroupSize: number }): void
    finish(): void
  }
  export function fileWriter(path: string): object
  export function parquetWriteFile(options: {
    readonly filename: string
    readonly rowGroupSize?: number
    readonly columnData: readonly (Column & { readonly type: string })[]
  }): void
}

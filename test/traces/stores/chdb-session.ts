import { createRequire } from 'node:module'

export interface Session {
  query(sql: string, format?: string): string
}

/**
 * ClickHouse in this process, where its package is installed (543 MB; `npm install --no-save chdb`).
 * Without a folder, tables last as long as the session.
 */
export function openSession(folder?: string): Session | undefined {
  try {
    const { Session } = createRequire(import.meta.url)('chdb') as {
      Session: new (folder?: string) => Session
    }
    return new Session(folder)
  } catch {
    return undefined
  }
}

/** What ClickHouse answers over HTTP: parameters of queries stand in the address. */
export function answerOf(session: Session, url: URL, body: string) {
  const database = url.searchParams.get('database') ?? 'default'
  const sql = body.replace(/\{(\w+):([^}]+)\}/g, (_, name: string, type: string) => {
    const value = url.searchParams.get(`param_${name}`) ?? ''
    return `_CAST('${value.replace(/[\\']/g, '\\$&')}', '${type}')`
  })
  try {
    session.query(`USE ${database}`)
    const [, query = '', format = ''] = /^(.*?)\s*FORMAT\s+(\w+)\s*$/s.exec(sql) ?? []
    return { type: 'text/plain', body: session.query(query, format) }
  } catch (error) {
    return {
      status: 400,
      type: 'text/plain',
      body: `${(error as Error).message}\n`,
      headers: { 'x-clickhouse-exception-code': '62' },
    }
  }
}

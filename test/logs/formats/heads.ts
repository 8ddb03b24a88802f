import type { FormatSample, Said } from './corpus.ts'

const T = '2026-11-22T14:20:57.260Z'
const AT = '2026-11-22 14:20:57,260'
const PG = '2026-11-22 14:20:57.260 UTC'
const LOADED: Said = { time: T, level: 'info', logger: 'App', text: 'loaded 3 keys' }

/** What logback and log4j write with a pattern. */
const pattern = (layout: string, text: string, more: Partial<Said> = {}): FormatSample => ({
  name: `logback, \`${layout}\``,
  by: 'logback, log4j 2',
  text,
  says: [{ ...LOADED, ...more }],
})

/** What PostgreSQL writes with a `log_line_prefix`. */
const prefix = (
  where: string,
  before: string,
  fields: Said['fields'] = {},
  time = T,
): FormatSample => ({
  name: `PostgreSQL, prefix of ${where}`,
  by: 'PostgreSQL',
  text: `${before}LOG:  duration: 12.345 ms  statement: SELECT 1\n${before}STATEMENT:  SELECT 1`,
  says: [
    { time, level: 'info', text: 'SELECT 1', fields: { duration_ms: '12.345', ...fields } },
    { time, text: 'STATEMENT:  SELECT 1' },
  ],
})

/** What stands before a message, in whatever order, and behind all that is known. */
export const HEADS: readonly FormatSample[] = [
  prefix('RDS', `${PG}:10.0.0.3(4322):app@shop:[812]:`, { user: 'app', database: 'shop' }),
  prefix('Cloud SQL', `${PG} [812]: [1-1] db=shop,user=app `, { db: 'shop', user: 'app' }),
  prefix('Azure', '2026-11-22 14:20:57 UTC-63f1a1c2.4a8-', {}, '2026-11-22T14:20:57Z'),
  prefix('pgBadger', `${PG} [812]: [7-1] user=app,db=shop,app=pgbench,client=[local] `, {
    user: 'app',
    db: 'shop',
  }),
  prefix('%m [%p] %a %e', `${PG} [812] pgbench 00000 `, { 'head 1': 'pgbench' }),
  prefix('%u@%d %m', `app@shop ${PG} `, { user: 'app' }),
  prefix('< %m >', `< ${PG} >`),
  prefix('<%m %u@%d(%p)>', `<${PG} app@shop(812)>`, { user: 'app', database: 'shop' }),
  prefix('[%m %p %u@%d]', `[${PG} 812 app@shop] `, { user: 'app', database: 'shop' }),
  pattern('%d|%thread|%level|%logger|%msg', `${AT}|main|INFO|shop.App|loaded 3 keys`),
  pattern(
    '%d | %level | %thread | %logger | %msg',
    `${AT} | INFO | main | shop.App | loaded 3 keys`,
  ),
  pattern(
    '[%d] [%thread] [%level] [%logger] %msg',
    `[${AT}] [main] [INFO] [shop.App] loaded 3 keys`,
  ),
  pattern('%level [%thread] %d %logger: %msg', `INFO [main] ${AT} shop.App: loaded 3 keys`),
  pattern('%d [%thread] %logger %level: %msg', `${AT} [main] shop.App INFO: loaded 3 keys`),
  pattern(
    '%d [%X{req}] [%thread] %level %logger - %msg',
    `${AT} [77aa-11] [main] INFO shop.App - loaded 3 keys`,
  ),
  pattern(
    '%d %X{host} %X{app} [%thread] %level %logger - %msg',
    `${AT} web1 shop [main] INFO shop.App - loaded 3 keys`,
    {
      fields: { 'head 1': 'web1', 'head 2': 'shop' },
    },
  ),
  pattern(
    '%d %level [%thread] %logger [%mdc] - %msg',
    `${AT} [main] INFO  shop.App [req=77aa, user=u1] - loaded 3 keys`,
    {
      fields: { req: '77aa', user: 'u1' },
    },
  ),
  pattern(
    '%d %level %class.%method(%file:%line) %msg',
    `${AT} INFO [main] shop.App.run(App.java:12) loaded 3 keys`,
  ),
  pattern('%d %logger -%kvp- %msg', `${AT} [main] INFO  shop.App -route="/cart"- loaded 3 keys`, {
    fields: { route: '/cart' },
  }),
  pattern(
    '%relative [%thread] %level %logger - %msg',
    '57260 [main] INFO  shop.App - loaded 3 keys',
    {
      time: '1970-01-01T00:00:57.260Z',
    },
  ),
  {
    name: 'Airflow, 2.3 to 2.6',
    by: 'Airflow',
    text: '[2026-11-22, 14:20:57 UTC] {taskinstance.py:1327} INFO - Starting attempt 1 of 1',
    says: [{ time: '2026-11-22T14:20:57Z', level: 'info', text: 'Starting attempt 1 of 1' }],
  },
  {
    name: 'zerolog, console with its usual times',
    by: 'zerolog',
    text: '2:20PM INF loaded keys=3',
    says: [{ time: '1970-01-01T14:20:00Z', level: 'info', text: 'loaded', fields: { keys: '3' } }],
  },
  {
    name: 'HAProxy, TCP',
    by: 'HAProxy',
    text: 'Nov 22 14:20:57 lb haproxy[14387]: 10.0.1.2:33313 [22/Nov/2026:14:20:57.260] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0',
    says: [
      {
        time: T,
        logger: 'haproxy',
        text: 'fnt bck/srv1',
        fields: { backend: 'bck', duration_ms: '5007' },
      },
    ],
  },
  {
    name: 'MySQL slow log',
    by: 'MySQL',
    text: '# Time: 2026-11-22T14:20:57.260000Z\n# User@Host: app[app] @ localhost []  Id:    12\n# Query_time: 2.000123  Lock_time: 0.000011 Rows_sent: 1  Rows_examined: 50\nuse shop;\nSET timestamp=1795357255;\nselect sleep(2);\n# Query_time: 3.5  Lock_time: 0.1 Rows_sent: 0  Rows_examined: 70\nSET timestamp=1795357258;\nselect 1;',
    says: [
      {
        time: T,
        text: 'select sleep(2);',
        fields: { query_time_s: '2.000123', rows_examined: '50', database: 'shop' },
      },
      { time: '2026-11-22T14:20:58Z', text: 'select 1;', fields: { query_time_s: '3.5' } },
    ],
  },
  {
    name: 'Istio, access log',
    by: 'Envoy, Istio',
    text: '[2026-11-22T14:20:57.260Z] "GET /cart HTTP/1.1" 418 - via_upstream - "-" 0 135 3 1 "-" "curl/7.73.0" "84961386-6d84-929d" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 - default',
    says: [
      {
        time: T,
        text: 'GET /cart',
        fields: { status: '418', duration_ms: '3', upstream_ms: '1', via: 'via_upstream' },
      },
    ],
  },
  {
    name: 'nginx, combined and what else was added',
    by: 'nginx',
    text: '127.0.0.1 - - [22/Nov/2026:14:20:57 +0000] "GET /cart HTTP/1.1" 200 20030 "-" "node" rt=0.070 urt=0.019, 0.051 cs=MISS us=10.0.0.1:80, 10.0.0.2:80\n127.0.0.1 - - [22/Nov/2026:14:20:57 +0000] "GET /cart HTTP/1.1" 200 20030 "-" "node" 0.070 0.069 HIT',
    says: [
      {
        time: '2026-11-22T14:20:57Z',
        text: 'GET /cart',
        fields: { rt: '0.070', urt: 0.07, 'urt.count': 2, cs: 'MISS' },
      },
      {
        time: '2026-11-22T14:20:57Z',
        text: 'GET /cart',
        fields: { request_time: '0.070', 'rest 1': '0.069', 'rest 2': 'HIT' },
      },
    ],
  },
]

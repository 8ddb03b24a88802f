import { HEADS } from './heads.ts'

/** A log in one format, and what it says. */
export interface FormatSample {
  readonly name: string
  /** The program that wrote it, or whose documentation describes it. */
  readonly by: string
  /** Whether the program itself wrote the sample (in shorter form), and not its documentation. */
  readonly isReal?: boolean
  readonly text: string
  readonly says: readonly Said[]
}

/** What one message says. */
export interface Said {
  /** As an ISO date; a time of day or since a start counts from 1970. */
  readonly time: string
  readonly level?: string
  readonly logger?: string
  readonly text: string
  /** Fields; others may be there. */
  readonly fields?: Readonly<Record<string, string | number | boolean>>
}

/** A sample as it is written below: a row may stand for what a message says. */
type Written = Omit<FormatSample, 'says'> & { readonly says: readonly (Said | string)[] }

const T = '2026-11-22T14:20:57.260Z'
const AT = '2026-11-22 14:20:57,260'
const DOCKER_TIME = '2026-11-22T14:20:57.260000000Z'
const json = (value: unknown) => JSON.stringify(value)
const APP = `${AT} WARN [main] shop.Cart: cache miss for 3 keys`
const OF_APP: Said = { time: T, level: 'warn', logger: 'Cart', text: 'cache miss for 3 keys' }
const INNER = '{"level":"warn","ts":"2026-11-22T14:20:57.260Z","msg":"cache miss","status":503}'
const OF_INNER: Said = { time: T, level: 'warn', text: 'cache miss', fields: { status: 503 } }

/** `time | level | logger | text | fields as JSON`: T is the usual time, - what is not said. */
function saidIn(row: Said | string): Said {
  if (typeof row !== 'string') return row
  const [, time, level, logger, text = '', fields] =
    /^(\S+) \| (.*?) \| (.*?) \| (.*?)(?: \| (\{.*\}))?$/s.exec(row) ?? []
  return {
    time: time === undefined || time === 'T' ? T : time,
    ...(level !== '-' && { level: level! }),
    ...(logger !== '-' && { logger: logger! }),
    text,
    ...(fields !== undefined && { fields: JSON.parse(fields) }),
  }
}

const samples = (written: readonly Written[]): FormatSample[] =>
  written.map((one) => ({ ...one, says: one.says.map(saidIn) }))

/** What carries lines of others. */
const ENVELOPES = samples([
  {
    name: 'Docker, json-file',
    by: 'Docker',
    text: [APP, INNER]
      .map((log) => json({ log: `${log}\n`, stream: 'stdout', time: DOCKER_TIME }))
      .join('\n'),
    says: [OF_APP, OF_INNER],
  },
  {
    name: 'Docker, json-file, plain text within',
    by: 'Docker',
    text: json({ log: 'cache miss for 3 keys\n', stream: 'stderr', time: DOCKER_TIME }),
    says: ['T | - | - | cache miss for 3 keys'],
  },
  {
    name: 'docker logs --timestamps',
    by: 'Docker',
    text: `${DOCKER_TIME} ${APP}\n${DOCKER_TIME} cache is warm\n${DOCKER_TIME} ${INNER}`,
    says: [OF_APP, 'T | - | - | cache is warm', OF_INNER],
  },
  {
    name: 'docker compose logs',
    by: 'Docker Compose',
    text: `web-1    | ${APP}\nworker-1 | ${INNER}`,
    says: [OF_APP, OF_INNER],
  },
  {
    name: 'CRI',
    by: 'containerd and CRI-O',
    text: `2026-11-22T14:20:57.260000000+00:00 stdout F ${APP}\n2026-11-22T14:20:57.260000000+00:00 stderr P ${INNER.slice(0, 30)}\n2026-11-22T14:20:57.260000000+00:00 stderr F ${INNER.slice(30)}`,
    says: [OF_APP, OF_INNER],
  },
  { name: 'kubectl logs', by: 'Kubernetes', text: `${APP}\n${INNER}`, says: [OF_APP, OF_INNER] },
  {
    name: 'kubectl logs --prefix',
    by: 'Kubernetes',
    text: `[pod/shop-7d9f8b6c5-x2x7p/shop] ${APP}\n[pod/shop-7d9f8b6c5-q9q9q/shop] ${INNER}`,
    says: [OF_APP, OF_INNER],
  },
  {
    name: 'kubectl logs --prefix --timestamps',
    by: 'Kubernetes',
    text: `[pod/shop-7d9f8b6c5-x2x7p/shop] ${DOCKER_TIME} cache is warm`,
    says: ['T | - | - | cache is warm'],
  },
  {
    name: 'stern',
    by: 'stern',
    text: `shop-7d9f8b6c5-x2x7p shop ${APP}\nshop-7d9f8b6c5-q9q9q shop ${INNER}`,
    says: [OF_APP, OF_INNER],
  },
  {
    name: 'stern --output json',
    by: 'stern',
    text: json({
      message: APP,
      nodeName: 'n1',
      namespace: 'default',
      podName: 'shop-7d9f8b6c5-x2x7p',
      containerName: 'shop',
    }),
    says: [OF_APP],
  },
  {
    name: 'Loki, query_range',
    by: 'Grafana Loki',
    text: json({
      status: 'success',
      data: {
        resultType: 'streams',
        result: [
          {
            stream: { app: 'shop', pod: 'shop-1' },
            values: [
              ['1795357257260000000', APP],
              ['1795357257260000000', INNER],
            ],
          },
        ],
        stats: { summary: { execTime: 0.1 } },
      },
    }),
    says: [OF_APP, OF_INNER],
  },
  {
    name: 'logcli',
    by: 'Grafana Loki',
    text: `2026-11-22T14:20:57Z {app="shop", pod="shop-1"} ${APP}`,
    says: [OF_APP],
  },
  {
    name: 'logcli --output=jsonl',
    by: 'Grafana Loki',
    text: json({ labels: { app: 'shop' }, line: INNER, timestamp: T }),
    says: [OF_INNER],
  },
  {
    name: 'CloudWatch, filter-log-events',
    by: 'AWS',
    text: JSON.stringify(
      {
        events: [
          ...[APP, INNER].map((message, i) => ({
            logStreamName: 's1',
            timestamp: 1795357257260,
            message,
            ingestionTime: 1795357258000,
            eventId: `${i}`,
          })),
        ],
        searchedLogStreams: [],
      },
      null,
      4,
    ),
    says: [OF_APP, OF_INNER],
  },
  {
    name: 'CloudWatch Insights, CSV',
    by: 'AWS',
    text: `@timestamp,@message,@logStream\n2026-11-22 14:20:57.260,${APP.replace(',', '.')},s1\n2026-11-22 14:20:57.260,"${INNER.replaceAll('"', '""')}",s1`,
    says: [OF_APP, OF_INNER],
  },
  {
    name: 'GCP, jsonPayload',
    by: 'Google Cloud Logging',
    text: JSON.stringify(
      [
        {
          insertId: 'a1',
          jsonPayload: { message: 'cache miss', status: 503 },
          severity: 'WARNING',
          timestamp: T,
          logName: 'projects/p/logs/stdout',
          resource: { type: 'k8s_container', labels: { pod_name: 'shop-1' } },
        },
      ],
      null,
      2,
    ),
    says: ['T | warn | - | cache miss | {"status":503}'],
  },
  {
    name: 'GCP, textPayload',
    by: 'Google Cloud Logging',
    text: json({ textPayload: APP, severity: 'DEFAULT', timestamp: T, resource: { type: 'x' } }),
    says: [OF_APP],
  },
  {
    name: 'journalctl -o json',
    by: 'systemd',
    text: json({
      __REALTIME_TIMESTAMP: '1795357257260000',
      MESSAGE: 'cache miss for 3 keys',
      PRIORITY: '4',
      _SYSTEMD_UNIT: 'shop.service',
      SYSLOG_IDENTIFIER: 'shop',
      _PID: '812',
      _HOSTNAME: 'web1',
    }),
    says: ['T | warn | shop | cache miss for 3 keys'],
  },
  {
    name: 'journalctl -o short',
    by: 'systemd',
    text: 'Nov 22 14:20:57 web1 shop[812]: cache miss for 3 keys',
    says: ['2000-11-22T14:20:57Z | - | shop | cache miss for 3 keys'],
  },
  {
    name: 'journalctl -o short-iso',
    by: 'systemd',
    text: `2026-11-22T14:20:57+0000 web1 shop[812]: ${INNER}`,
    says: [{ ...OF_INNER, logger: 'shop' }],
  },
  {
    name: 'GELF',
    by: 'Graylog',
    text: json({
      version: '1.1',
      host: 'web1',
      short_message: 'cache miss',
      level: 4,
      timestamp: 1795357257.26,
      _status: 503,
      _user_agent: 'curl',
    }),
    says: ['T | warn | - | cache miss | {"status":503}'],
  },
  {
    name: 'Fluent Bit, kubernetes filter',
    by: 'Fluent Bit',
    text: json({
      date: 1795357257.26,
      log: `${APP}\n`,
      stream: 'stdout',
      kubernetes: { pod_name: 'shop-1', container_name: 'shop', labels: { app: 'shop' } },
    }),
    says: [OF_APP],
  },
  {
    name: 'Fluent Bit, stdout',
    by: 'Fluent Bit',
    text: '[0] kube.shop: [[1795357257.260000000, {}], {"log"=>"cache miss", "status"=>503}]\n[1] kube.shop: [1795357257.260000000, {"message"=>"cache miss", "level"=>"warn"}]',
    says: ['T | - | - | cache miss | {"status":503}', 'T | warn | - | cache miss'],
  },
  {
    name: 'Fluentd, out_file',
    by: 'Fluentd',
    text: `2026-11-22T14:20:57+00:00\tkube.shop\t${INNER}`,
    says: [OF_INNER],
  },
  {
    name: 'Azure, diagnostic records',
    by: 'Azure Monitor',
    text: json({
      records: [
        {
          time: T,
          category: 'ContainerAppConsoleLogs',
          level: 'Warning',
          properties: { Log: APP, ContainerName: 'shop' },
        },
      ],
    }),
    says: [OF_APP],
  },
  {
    name: 'Azure, ContainerLogV2 as CSV',
    by: 'Azure Monitor',
    text: `TimeGenerated [UTC],PodName,ContainerName,LogMessage\n"11/22/2026, 2:20:57.260 PM",shop-1,shop,cache is warm`,
    says: ['T | - | - | cache is warm'],
  },
  {
    name: 'Azure, Application Insights',
    by: 'Azure Monitor',
    text: json({
      tables: [
        {
          name: 'PrimaryResult',
          columns: ['timestamp', 'message', 'severityLevel', 'customDimensions'].map((name) => ({
            name,
          })),
          rows: [[T, 'cache miss', 2, '{"status":503}']],
        },
      ],
    }),
    says: ['T | warn | - | cache miss | {"status":503}'],
  },
  {
    name: 'Elasticsearch, search',
    by: 'Elasticsearch',
    text: json({
      took: 3,
      hits: {
        total: { value: 1 },
        hits: [{ _index: 'i', _source: { '@timestamp': T, message: APP, host: { name: 'web1' } } }],
      },
    }),
    says: [OF_APP],
  },
  {
    name: 'Filebeat',
    by: 'Elastic',
    text: json({
      '@timestamp': T,
      '@metadata': { beat: 'filebeat' },
      message: APP,
      agent: { type: 'filebeat' },
      log: { offset: 12, file: { path: '/var/log/a.log' } },
      ecs: { version: '8.0.0' },
    }),
    says: [OF_APP],
  },
  {
    name: 'Splunk, export',
    by: 'Splunk',
    text: json({ preview: false, result: { _time: T, _raw: APP, host: 'web1', source: '/a' } }),
    says: [OF_APP],
  },
  {
    name: 'Heroku',
    by: 'Heroku',
    text: '2026-11-22T14:20:57.260000+00:00 app[web.1]: cache miss for 3 keys',
    says: ['T | - | app | cache miss for 3 keys'],
  },
  {
    name: 'syslog, RFC 3164',
    by: 'RFC 3164',
    text: '<34>Nov 22 14:20:57 web1 sshd[812]: session opened for root\n<34>Nov 22 14:20:57 web1 su: failed for lonvick',
    says: [
      '2000-11-22T14:20:57Z | fatal | sshd | session opened for root',
      '2000-11-22T14:20:57Z | fatal | su | failed for lonvick',
    ],
  },
  {
    name: 'syslog, RFC 5424',
    by: 'RFC 5424',
    text: `<165>1 ${T} web1 shop 812 ID47 [x@1 a="b" c="]"] cache miss for 3 keys\n<163>1 ${T} web1 shop - - - ${INNER}`,
    says: ['T | info | shop | cache miss for 3 keys', { ...OF_INNER, logger: 'shop' }],
  },
  {
    name: 'rsyslog, ISO times',
    by: 'rsyslog',
    text: '2026-11-22T14:20:57.260000+00:00 web1 systemd[1]: Started Daily apt activities.\n2026-11-22T14:20:57.260000+00:00 web1 kernel: [    3.500000] eth0: link up',
    says: ['T | - | systemd | Started Daily apt activities.', 'T | - | kernel | eth0: link up'],
  },
  {
    name: 'OTLP JSON',
    by: 'OpenTelemetry Collector',
    text: json({
      resourceLogs: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
          scopeLogs: [
            {
              logRecords: [
                {
                  timeUnixNano: '1795357257260000000',
                  severityNumber: 13,
                  severityText: 'WARN',
                  body: { stringValue: 'cache miss' },
                  attributes: [{ key: 'status', value: { intValue: '503' } }],
                },
              ],
            },
          ],
        },
      ],
    }),
    says: ['T | warn | shop | cache miss | {"status":503}'],
  },
])

const BASE: Said = { time: T, level: 'warn', text: 'cache miss', fields: { status: 503 } }

/** Records with fields. */
const RECORDS = samples([
  {
    name: 'pino',
    by: 'pino 9',
    isReal: true,
    text: '{"level":30,"time":1795357257245,"pid":32687,"hostname":"vm","status":200,"route":"/cart","msg":"request completed"}\n{"level":50,"time":1795357257246,"pid":32687,"hostname":"vm","err":{"type":"Error","message":"boom","stack":"Error: boom\\n    at file:///tmp/gen.mjs:2:138\\n    at ModuleJob.run (node:internal/modules/esm/module_job:325:25)"},"msg":"failed"}',
    says: [
      '2026-11-22T14:20:57.245Z | info | - | request completed | {"status":200,"route":"/cart"}',
      '2026-11-22T14:20:57.246Z | error | - | failed',
      '2026-11-22T14:20:57.246Z | error | threw Error | boom',
    ],
  },
  {
    name: 'pino-pretty',
    by: 'pino-pretty 13',
    isReal: true,
    text: '[14:20:57.249] \u001b[33mWARN\u001b[39m (32687): \u001b[36mslow\u001b[39m\n    \u001b[35mqueue\u001b[39m: 3',
    says: ['1970-01-01T14:20:57.249Z | warn | - | slow'],
  },
  {
    name: 'winston, JSON',
    by: 'winston 3',
    isReal: true,
    text: '{"level":"info","message":"request completed","ms":12.5,"status":200,"timestamp":"2026-11-22T14:20:57.260Z"}',
    says: ['T | info | - | request completed | {"ms":12.5,"status":200}'],
  },
  {
    name: 'winston, printf',
    by: 'winston 3',
    isReal: true,
    text: '2026-11-22T14:20:57.266Z [app] warn: cache miss\n2026-11-22T14:20:57.266Z \u001b[33mwarn\u001b[39m: cache miss',
    says: [
      '2026-11-22T14:20:57.266Z | warn | app | cache miss',
      '2026-11-22T14:20:57.266Z | warn | - | cache miss',
    ],
  },
  {
    name: 'bunyan',
    by: 'bunyan 1',
    isReal: true,
    text: '{"name":"shop","hostname":"vm","pid":32687,"level":30,"status":200,"msg":"request completed","time":"2026-11-22T14:20:57.269Z","v":0}\n{"name":"shop","hostname":"vm","pid":32687,"level":50,"err":{"message":"bad","name":"TypeError","stack":"TypeError: bad\\n    at file:///tmp/gen.mjs:7:121"},"msg":"failed","time":"2026-11-22T14:20:57.269Z","v":0}',
    says: [
      '2026-11-22T14:20:57.269Z | info | shop | request completed | {"status":200}',
      '2026-11-22T14:20:57.269Z | error | shop | failed',
      '2026-11-22T14:20:57.269Z | error | threw TypeError | bad',
    ],
  },
  {
    name: 'structlog, JSON',
    by: 'structlog 22',
    isReal: true,
    text: '{"status": 200, "route": "/cart", "event": "request completed", "level": "info", "timestamp": "2026-11-22T14:20:57.865945Z"}',
    says: [
      '2026-11-22T14:20:57.865945Z | info | - | request completed | {"status":200,"route":"/cart"}',
    ],
  },
  {
    name: 'structlog, console',
    by: 'structlog 22',
    isReal: true,
    text: '2026-11-22 14:20:57 [warning  ] cache miss                     key=a n=3',
    says: ['2026-11-22T14:20:57Z | warn | - | cache miss | {"key":"a","n":"3"}'],
  },
  {
    name: 'logback and logstash-logback-encoder',
    by: 'logstash-logback-encoder',
    text: '{"@timestamp":"2026-11-22T14:20:57.260Z","@version":"1","message":"cache miss","logger_name":"shop.Cart","thread_name":"main","level":"WARN","level_value":30000,"status":503}',
    says: [{ ...BASE, logger: 'Cart' }],
  },
  {
    name: 'log4j2, JsonLayout',
    by: 'log4j 2',
    text: '{"instant":{"epochSecond":1795357257,"nanoOfSecond":260000000},"thread":"main","level":"ERROR","loggerName":"shop.Cart","message":"checkout failed","thrown":{"commonElementCount":0,"localizedMessage":"no stock","message":"no stock","name":"java.lang.IllegalStateException","extendedStackTrace":"java.lang.IllegalStateException: no stock\\n\\tat shop.Cart.main(Cart.java:2)\\n"},"endOfBatch":false,"loggerFqcn":"x","threadId":1,"threadPriority":5}',
    says: [
      'T | error | Cart | checkout failed',
      'T | error | threw java.lang.IllegalStateException | no stock',
    ],
  },
  {
    name: 'log4j2, JsonTemplateLayout (ECS)',
    by: 'log4j 2',
    text: '{"@timestamp":"2026-11-22T14:20:57.260Z","ecs.version":"1.2.0","log.level":"ERROR","message":"checkout failed","process.thread.name":"main","log.logger":"shop.Cart","error.type":"java.lang.IllegalStateException","error.message":"no stock","error.stack_trace":"java.lang.IllegalStateException: no stock\\n\\tat shop.Cart.main(Cart.java:2)\\nCaused by: java.io.IOException: disk\\n\\t... 1 more\\n"}',
    says: [
      'T | error | Cart | checkout failed',
      'T | error | threw java.lang.IllegalStateException | no stock',
      'T | error | threw java.io.IOException | disk',
    ],
  },
  {
    name: 'Serilog, compact JSON',
    by: 'Serilog',
    text: '{"@t":"2026-11-22T14:20:57.2600000Z","@mt":"HTTP {Method} responded {StatusCode}","@l":"Warning","Method":"GET","StatusCode":503,"SourceContext":"Shop.CartController"}',
    says: [
      'T | warn | CartController | HTTP {Method} responded {StatusCode} | {"Method":"GET","StatusCode":503}',
    ],
  },
  {
    name: 'Serilog, JSON',
    by: 'Serilog',
    text: '{"Timestamp":"2026-11-22T14:20:57.2600000+00:00","Level":"Warning","MessageTemplate":"cache miss for {Count} keys","RenderedMessage":"cache miss for 3 keys","Properties":{"Count":3}}',
    says: ['T | warn | - | cache miss for {Count} keys | {"Count":3}'],
  },
  {
    name: '.NET, JSON console',
    by: '.NET',
    text: '{"Timestamp":"2026-11-22T14:20:57.260Z","EventId":0,"LogLevel":"Warning","Category":"Shop.Cart","Message":"cache miss for 3 keys","State":{"Message":"cache miss for 3 keys","Count":3,"{OriginalFormat}":"cache miss for {Count} keys"}}',
    says: ['T | warn | Cart | cache miss for {Count} keys | {"Count":3}'],
  },
  {
    name: 'zap, JSON',
    by: 'zap',
    text: '{"level":"warn","ts":1795357257.26,"logger":"cart","caller":"cart/main.go:12","msg":"cache miss","status":503,"elapsed":"12ms"}',
    says: [{ ...BASE, logger: 'cart', fields: { status: 503, elapsed: '12ms' } }],
  },
  {
    name: 'zerolog, JSON',
    by: 'zerolog',
    text: '{"level":"error","status":503,"error":"dial tcp 10.0.0.1:80: connection refused","time":1795357257,"message":"request failed"}',
    says: [
      '2026-11-22T14:20:57Z | error | - | request failed | {"status":503}',
      '2026-11-22T14:20:57Z | error | threw error | dial tcp 10.0.0.1:80: connection refused',
    ],
  },
  {
    name: 'logrus, JSON',
    by: 'logrus',
    text: '{"level":"warning","msg":"cache miss","status":503,"time":"2026-11-22T14:20:57Z"}',
    says: [{ ...BASE, time: '2026-11-22T14:20:57Z' }],
  },
  {
    name: 'slog, JSON',
    by: 'Go',
    text: '{"time":"2026-11-22T14:20:57.26Z","level":"WARN","msg":"cache miss","request":{"id":"a1"},"status":503}',
    says: [BASE],
  },
  {
    name: 'logfmt',
    by: 'logrus, slog, Prometheus, Grafana',
    text: 'time=2026-11-22T14:20:57.260Z level=warning msg="cache miss" status=503\nts=2026-11-22T14:20:57.260Z caller=main.go:12 level=warn component=tsdb msg="cache miss" status=503',
    says: [
      { ...BASE, fields: { status: '503' } },
      { ...BASE, logger: 'tsdb', fields: { status: '503' } },
    ],
  },
  {
    name: 'MongoDB',
    by: 'MongoDB 4.4 and later',
    text: '{"t":{"$date":"2026-11-22T14:20:57.260+00:00"},"s":"W","c":"COMMAND","id":51803,"ctx":"conn7","msg":"Slow query","attr":{"type":"command","ns":"shop.cart","durationMillis":143}}',
    says: ['T | warn | COMMAND | Slow query | {"durationMillis":143}'],
  },
  {
    name: 'nginx, JSON access log',
    by: 'nginx 1.22',
    isReal: true,
    text: '{"time_local":"22/Nov/2026:14:21:06 +0000","remote_addr":"127.0.0.1","request":"GET /cart HTTP/1.1","status":"502","request_time":"0.004","upstream":"127.0.0.1:7797"}',
    says: [
      '2026-11-22T14:21:06Z | - | - | GET /cart | {"status":"502","request_time":"0.004","upstream":"127.0.0.1:7797"}',
    ],
  },
  {
    name: 'Caddy',
    by: 'Caddy 2',
    text: '{"level":"info","ts":1795357257.26,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"10.0.0.1","method":"GET","host":"a","uri":"/cart?x=1"},"duration":0.012,"size":17,"status":503}',
    says: [
      'T | info | http.log.access | handled request | {"status":503,"duration":0.012,"size":17}',
    ],
  },
  {
    name: 'a list of JSON objects, with capitals',
    by: 'various',
    text: JSON.stringify(
      [{ Timestamp: T, Level: 'WARN', Message: 'cache miss', Status: 503 }],
      null,
      2,
    ),
    says: ['T | warn | - | cache miss | {"Status":503}'],
  },
  {
    name: 'nested JSON',
    by: 'various',
    text: json({ time: T, level: 'warn', msg: 'cache miss', http: { response: { status: 503 } } }),
    says: ['T | warn | - | cache miss | {"http.response.status":503}'],
  },
  {
    name: 'CSV',
    by: 'various',
    text: 'Time,Level,Message,Status\n2026-11-22T14:20:57.260Z,WARN,cache miss,503',
    says: ['T | warn | - | cache miss | {"Status":"503"}'],
  },
  {
    name: 'W3C extended (IIS)',
    by: 'IIS',
    text: '#Software: Microsoft Internet Information Services 10.0\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port sc-status time-taken\n2026-11-22 14:20:57 10.0.0.1 GET /cart - 443 503 12',
    says: ['2026-11-22T14:20:57Z | - | - | GET /cart | {"sc-status":"503","time-taken":"12"}'],
  },
])

/** Lines of text. */
const TEXTS = samples([
  { name: 'log4j', by: 'log4j', text: APP, says: [OF_APP] },
  {
    name: 'log4j, with pairs in its text',
    by: 'Hadoop',
    text: '2015-10-17 21:47:48,288 INFO [main] X: maxSize=3 count=4',
    says: ['2015-10-17T21:47:48.288Z | info | X | maxSize=3 count=4'],
  },
  {
    name: 'logback',
    by: 'logback',
    text: '14:20:57.260 [main] WARN  shop.Cart - cache miss for 3 keys',
    says: [{ ...OF_APP, time: '1970-01-01T14:20:57.260Z' }],
  },
  {
    name: 'Spring Boot',
    by: 'Spring Boot 3',
    text: '2026-11-22T14:20:57.260Z  WARN 4711 --- [shop] [main] shop.Cart      : cache miss for 3 keys',
    says: [OF_APP],
  },
  {
    name: 'HDFS',
    by: 'Hadoop',
    text: '261122 142057 148 WARN shop.Cart: cache miss for 3 keys',
    says: [{ ...OF_APP, time: '2026-11-22T14:20:57Z' }],
  },
  {
    name: 'Spark',
    by: 'Spark',
    text: '26/11/22 14:20:57 WARN shop.Cart: cache miss for 3 keys',
    says: [{ ...OF_APP, time: '2026-11-22T14:20:57Z' }],
  },
  {
    name: 'java.util.logging',
    by: 'OpenJDK 17',
    isReal: true,
    text: 'Nov 22, 2026 2:20:59 PM shop.Cart main\nINFO: checkout done in 12 ms\nNov 22, 2026 2:20:59 PM shop.Cart main\nSEVERE: checkout failed\njava.lang.IllegalStateException: no stock\n\tat J.main(J.java:2)\n',
    says: [
      '2026-11-22T14:20:59Z | info | Cart | checkout done in 12 ms',
      '2026-11-22T14:20:59Z | error | Cart | checkout failed',
      '2026-11-22T14:20:59Z | error | threw java.lang.IllegalStateException | no stock',
    ],
  },
  {
    name: 'Tomcat',
    by: 'Tomcat',
    text: '22-Nov-2026 14:20:57.260 INFO [main] org.apache.catalina.startup.Catalina.start Server startup in [1041] milliseconds',
    says: [
      'T | info | org.apache.catalina.startup.Catalina.start | Server startup in [1041] milliseconds',
    ],
  },
  {
    name: 'Java garbage collector',
    by: 'OpenJDK 17',
    isReal: true,
    text: '[2026-11-22T14:21:01.082+0000][info][gc] Using G1\n[2026-11-22T14:21:01.091+0000][info][gc,init] CPUs: 2 total, 2 available',
    says: [
      '2026-11-22T14:21:01.082Z | info | gc | Using G1',
      '2026-11-22T14:21:01.091Z | info | gc,init | CPUs: 2 total, 2 available',
    ],
  },
  {
    name: 'Java garbage collector, uptime',
    by: 'OpenJDK 17',
    isReal: true,
    text: '[0.882s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 19M->7M(388M) 9.921ms',
    says: [
      '1970-01-01T00:00:00.882Z | info | gc | GC(0) Pause Young (Normal) (G1 Evacuation Pause) 19M->7M(388M) 9.921ms',
    ],
  },
  {
    name: 'Kafka',
    by: 'Kafka',
    text: '[2026-11-22 14:20:57,260] WARN cache miss for 3 keys (shop.Cart)',
    says: [OF_APP],
  },
  {
    name: 'ZooKeeper',
    by: 'ZooKeeper',
    text: '2026-11-22 14:20:57,260 - WARN  [QuorumPeer[myid=1]/0.0.0.0:2181:Cart@101] - cache miss for 3 keys',
    says: [OF_APP],
  },
  {
    name: 'Cassandra',
    by: 'Cassandra',
    text: 'WARN  [main] 2026-11-22 14:20:57,260 Cart.java:12 - cache miss for 3 keys',
    says: [OF_APP],
  },
  {
    name: 'Elasticsearch, text',
    by: 'Elasticsearch',
    text: '[2026-11-22T14:20:57,260][WARN ][s.Cart                   ] [node-1] cache miss for 3 keys',
    says: [OF_APP],
  },
  {
    name: 'Elasticsearch, slow log',
    by: 'Elasticsearch',
    text: [
      '[2026-11-22T14:20:57,260][WARN ][i.s.s.query              ] [node-1] [items][0] took[1.2s], took_millis[1278], total_hits[7 hits], types[], stats[], search_type[QUERY_THEN_FETCH], total_shards[5], source[{"query":{"terms":{"tag":["a","b"],"boost":1.0}}}], id[],',
      '[2026-11-22T14:20:57,260][INFO ][index.indexing.slowlog.index] [node-1] [items/cAfeUuid] took[34.1ms], took_millis[34], type[_doc], id[1], routing[], source[{"tag":"a, b"}]',
    ].join('\n'),
    says: [
      'T | warn | i.s.s.query |  | {"index":"items","shard":"0","took":"1.2s","took_millis":"1278","total_shards":"5","source.query.terms.tag.count":2,"source.query.terms.boost":1}',
      'T | info | index.indexing.slowlog.index |  | {"index":"items","took":"34.1ms","took_millis":"34","type":"_doc","source.tag":"a, b"}',
    ],
  },
  {
    name: 'Python logging',
    by: 'Python 3.11',
    isReal: true,
    text: '2026-11-22 14:20:57,866 - shop - ERROR - checkout failed\nTraceback (most recent call last):\n  File "/tmp/gen.py", line 10, in <module>\n    1/0\n    ~^~\nZeroDivisionError: division by zero\n2026-11-22 14:20:57,866 - root - WARNING - cache miss',
    says: [
      '2026-11-22T14:20:57.866Z | error | shop | checkout failed',
      '2026-11-22T14:20:57.866Z | error | threw ZeroDivisionError | division by zero',
      '2026-11-22T14:20:57.866Z | warn | root | cache miss',
    ],
  },
  {
    name: 'Python basicConfig, in Docker',
    by: 'Python',
    text: json({ log: 'WARNING:root:cache miss\n', stream: 'stderr', time: T }),
    says: ['T | warn | root | cache miss'],
  },
  {
    name: 'loguru',
    by: 'loguru 0.6',
    isReal: true,
    text: '2026-11-22 14:20:57.913 | WARNING  | __main__:<module>:15 - cache miss 3',
    says: ['2026-11-22T14:20:57.913Z | warn | __main__ | cache miss 3'],
  },
  {
    name: 'Celery',
    by: 'Celery',
    text: '[2026-11-22 14:20:57,260: WARNING/ForkPoolWorker-1] cache miss',
    says: ['T | warn | - | cache miss'],
  },
  {
    name: 'Gunicorn',
    by: 'Gunicorn',
    text: '[2026-11-22 14:20:57 +0000] [812] [WARNING] cache miss',
    says: ['2026-11-22T14:20:57Z | warn | - | cache miss'],
  },
  {
    name: 'Uvicorn, in CRI',
    by: 'Uvicorn',
    text: '2026-11-22T14:20:57.260Z stdout F INFO:     10.0.0.1:5512 - "GET /cart HTTP/1.1" 503 Service Unavailable',
    says: ['T | info | - | GET /cart | {"status":"503"}'],
  },
  {
    name: 'Airflow',
    by: 'Airflow',
    text: '[2026-11-22T14:20:57.260+0000] {taskinstance.py:1138} WARNING - cache miss',
    says: ['T | warn | - | cache miss'],
  },
  {
    name: 'OpenStack',
    by: 'OpenStack',
    text: '2026-11-22 14:20:57.260 25746 WARNING nova.compute [req-38101a0b - - -] cache miss',
    says: ['T | warn | nova.compute | cache miss'],
  },
  {
    name: 'Ruby Logger',
    by: 'Ruby 3.1',
    isReal: true,
    text: 'I, [2026-11-22T14:20:58.136851 #32701]  INFO -- shop: Started GET "/cart"\nE, [2026-11-22T14:20:58.136893 #32701] ERROR -- : boom (RuntimeError)',
    says: [
      '2026-11-22T14:20:58.136851Z | info | shop | Started GET "/cart"',
      '2026-11-22T14:20:58.136893Z | error | - | boom (RuntimeError)',
    ],
  },
  {
    name: 'Rails',
    by: 'Rails',
    text: 'Started GET "/cart?x=1" for 10.0.0.1 at 2026-11-22 14:20:57 +0000\nProcessing by CartController#show as HTML\nCompleted 503 Service Unavailable in 12ms (Views: 5.0ms | ActiveRecord: 1.0ms)',
    says: [
      '2026-11-22T14:20:57Z | - | - | GET /cart',
      '2026-11-22T14:20:57Z | - | - | Completed 503 Service Unavailable | {"status":"503","duration":"12ms"}',
    ],
  },
  {
    name: 'Laravel and Monolog',
    by: 'Monolog',
    text: '[2026-11-22T14:20:57.260000+00:00] shop.WARNING: cache miss {"status":503} []\n[2026-11-22 14:20:57] production.ERROR: checkout failed',
    says: [
      'T | warn | shop | cache miss | {"status":503}',
      '2026-11-22T14:20:57Z | error | production | checkout failed',
    ],
  },
  {
    name: 'PHP',
    by: 'PHP',
    text: '[22-Nov-2026 14:20:57 UTC] PHP Warning:  Undefined variable $x in /app/a.php on line 3\n[22-Nov-2026 14:20:57] WARNING: [pool www] server reached max_children',
    says: [
      '2026-11-22T14:20:57Z | warn | - | Undefined variable $x in /app/a.php on line 3',
      '2026-11-22T14:20:57Z | warn | - | [pool www] server reached max_children',
    ],
  },
  {
    name: '.NET console',
    by: '.NET',
    text: '2026-11-22T14:20:57.260Z warn: Shop.Cart[7]\n      cache miss for 3 keys\n2026-11-22T14:20:57.260Z fail: Shop.Cart[0]\n      checkout failed\n      System.InvalidOperationException: no stock\n         at Shop.Cart.Main() in /app/Cart.cs:line 3',
    says: [
      OF_APP,
      'T | error | Cart | checkout failed',
      'T | error | threw System.InvalidOperationException | no stock',
    ],
  },
  {
    name: 'Serilog, text',
    by: 'Serilog',
    text: '[14:20:57 WRN] cache miss for 3 keys\n2026-11-22 14:20:57.260 +00:00 [WRN] cache miss for 3 keys',
    says: [
      '1970-01-01T14:20:57Z | warn | - | cache miss for 3 keys',
      'T | warn | - | cache miss for 3 keys',
    ],
  },
  {
    name: 'NLog',
    by: 'NLog',
    text: '2026-11-22 14:20:57.2600|WARN|Shop.Cart|cache miss for 3 keys',
    says: [OF_APP],
  },
  {
    name: 'log4js',
    by: 'log4js 6',
    isReal: true,
    text: '[2026-11-22T14:20:57.274] [ERROR] cart - checkout failed for 3 items',
    says: ['2026-11-22T14:20:57.274Z | error | cart | checkout failed for 3 items'],
  },
  {
    name: 'debug',
    by: 'debug, of npm',
    text: 'Sun, 22 Nov 2026 14:20:57 GMT express:router dispatching GET /cart',
    says: ['2026-11-22T14:20:57Z | - | express:router | dispatching GET /cart'],
  },
  {
    name: 'klog',
    by: 'Kubernetes',
    text: 'W1122 14:20:57.260000    1234 cart.go:12] "Request completed" latency="12ms" status=503\nI1122 14:20:57.260000       1 main.go:7] cache is warm',
    says: [
      '2000-11-22T14:20:57.260Z | warn | - | Request completed | {"latency":"12ms","status":"503"}',
      '2000-11-22T14:20:57.260Z | info | - | cache is warm',
    ],
  },
  {
    name: 'glog',
    by: 'glog 0.5 and later',
    text: 'W20261122 14:20:57.260000  1234 cart.cc:12] cache miss',
    says: ['T | warn | - | cache miss'],
  },
  {
    name: 'CockroachDB',
    by: 'CockroachDB',
    text: 'W261122 14:20:57.260000 123 server/node.go:12 ⋮ [n1] 7  cache miss',
    says: ['T | warn | - | cache miss'],
  },
  {
    name: 'Go, log',
    by: 'Go',
    text: '2026/11/22 14:20:57 cache miss\n2026/11/22 14:20:57.260000 main.go:12: cache miss',
    says: ['2026-11-22T14:20:57Z | - | - | cache miss', 'T | - | - | cache miss'],
  },
  {
    name: 'zap, console',
    by: 'zap, Istio',
    text: '2026-11-22T14:20:57.260Z\tWARN\tcart\tcart/main.go:12\tcache miss\t{"status": 503}\n2026-11-22T14:20:57.260000Z\twarn\tcache is warm',
    says: ['T | warn | cart | cache miss | {"status":503}', 'T | warn | - | cache is warm'],
  },
  {
    name: 'zerolog, console',
    by: 'zerolog',
    text: '2026-11-22T14:20:57Z WRN cart.go:12 > cache miss status=503',
    says: ['2026-11-22T14:20:57Z | warn | - | cache miss | {"status":"503"}'],
  },
  {
    name: 'logrus, console',
    by: 'logrus',
    text: 'WARN[2026-11-22T14:20:57Z] cache miss                                   status=503',
    says: ['2026-11-22T14:20:57Z | warn | - | cache miss | {"status":"503"}'],
  },
  {
    name: 'hclog',
    by: 'Consul, Vault, Nomad',
    text: '2026-11-22T14:20:57.260Z [WARN]  agent.server: cache miss: status=503',
    says: ['T | warn | agent.server | cache miss | {"status":"503"}'],
  },
  {
    name: 'Gin',
    by: 'Gin',
    text: '[GIN] 2026/11/22 - 14:20:57 | 503 |      12.5ms |       10.0.0.1 | GET      "/cart"',
    says: ['2026-11-22T14:20:57Z | - | - | GET /cart | {"status":"503","duration":"12.5ms"}'],
  },
  {
    name: 'Rust, env_logger',
    by: 'env_logger',
    text: '[2026-11-22T14:20:57Z WARN  shop::cart] cache miss',
    says: ['2026-11-22T14:20:57Z | warn | shop::cart | cache miss'],
  },
  {
    name: 'Rust, tracing',
    by: 'tracing-subscriber',
    text: '2026-11-22T14:20:57.260000Z  WARN shop::cart: cache miss status=503',
    says: ['T | warn | shop::cart | cache miss | {"status":"503"}'],
  },
  {
    name: 'Redis',
    by: 'Redis 7',
    isReal: true,
    text: '360:C 22 Nov 2026 14:21:03.547 # Configuration loaded\n360:M 22 Nov 2026 14:21:03.549 * Ready to accept connections',
    says: [
      '2026-11-22T14:21:03.547Z | warn | - | Configuration loaded',
      '2026-11-22T14:21:03.549Z | info | - | Ready to accept connections',
    ],
  },
  {
    name: 'MongoDB, text',
    by: 'MongoDB up to 4.2',
    text: '2026-11-22T14:20:57.260+0000 W NETWORK  [conn7] end connection 10.0.0.1:5512',
    says: ['T | warn | NETWORK | end connection 10.0.0.1:5512'],
  },
  {
    name: 'PostgreSQL',
    by: 'PostgreSQL',
    text: '2026-11-22 14:20:57.260 UTC [812] LOG:  duration: 12.345 ms  statement: SELECT 1\n2026-11-22 14:20:57.260 CET [812] app@shop ERROR:  canceling statement due to timeout',
    says: [
      'T | info | - | SELECT 1 | {"duration_ms":"12.345"}',
      '2026-11-22T13:20:57.260Z | error | - | canceling statement due to timeout',
    ],
  },
  {
    name: 'MySQL',
    by: 'MySQL 8, MariaDB',
    text: '2026-11-22T14:20:57.260000Z 0 [Warning] [MY-010055] [Server] cache miss\n2026-11-22 14:20:57 0 [Note] ready for connections',
    says: [
      'T | warn | Server | cache miss',
      '2026-11-22T14:20:57Z | info | - | ready for connections',
    ],
  },
  {
    name: 'RabbitMQ',
    by: 'RabbitMQ',
    text: '2026-11-22 14:20:57.260000+00:00 [warning] <0.812.0> cache miss',
    says: ['T | warn | - | cache miss'],
  },
  {
    name: 'nginx, access log (combined)',
    by: 'nginx 1.22',
    isReal: true,
    text: '127.0.0.1 - - [22/Nov/2026:14:21:06 +0000] "GET /cart?x=1 HTTP/1.1" 502 157 "-" "curl/7.88.1"',
    says: [
      '2026-11-22T14:21:06Z | - | - | GET /cart | {"status":"502","bytes":"157","agent":"curl/7.88.1"}',
    ],
  },
  {
    name: 'ingress-nginx',
    by: 'ingress-nginx',
    text: '10.0.0.1 - - [22/Nov/2026:14:21:06 +0000] "POST /cart HTTP/2.0" 503 17 "-" "curl" 40 0.012 [default-shop-80] [] 10.1.0.7:8080 17 0.011 503 a1b2',
    says: [
      '2026-11-22T14:21:06Z | - | - | POST /cart | {"request_time":"0.012","upstream":"default-shop-80","upstream_time":"0.011"}',
    ],
  },
  {
    name: 'nginx, error log',
    by: 'nginx 1.22',
    isReal: true,
    text: '2026/11/22 14:21:05 [notice] 388#388: using the "epoll" event method\n2026/11/22 14:21:06 [error] 389#389: *2 connect() failed (111: Connection refused) while connecting to upstream, client: 127.0.0.1, server: , request: "GET /cart HTTP/1.1", upstream: "http://127.0.0.1:7797/cart", host: "localhost:7798"',
    says: [
      '2026-11-22T14:21:05Z | info | - | using the "epoll" event method',
      '2026-11-22T14:21:06Z | error | - | connect() failed (111: Connection refused) while connecting to upstream | {"upstream":"http://127.0.0.1:7797/cart"}',
    ],
  },
  {
    name: 'Apache, access log (common, vhost)',
    by: 'Apache 2.4',
    isReal: true,
    text: '127.0.0.1 - - [22/Nov/2026:14:21:07 +0000] "GET /c HTTP/1.1" 200 593\nshop.example:80 127.0.0.1 - bob [22/Nov/2026:14:21:07 +0000] "GET /nope HTTP/1.1" 404 397 "-" "curl/7.88.1"',
    says: [
      '2026-11-22T14:21:07Z | - | - | GET /c | {"status":"200","bytes":"593"}',
      '2026-11-22T14:21:07Z | - | - | GET /nope | {"status":"404"}',
    ],
  },
  {
    name: 'Apache, error log',
    by: 'Apache 2.4',
    isReal: true,
    text: "[Sun Nov 22 14:21:06.112071 2026] [unixd:alert] [pid 396:tid 396] AH02155: getpwuid: couldn't determine user name from uid 4294967295\n[Sun Nov 22 14:21:06 2026] [error] [client 10.0.0.1] File does not exist: /a",
    says: [
      "2026-11-22T14:21:06.112071Z | fatal | unixd | AH02155: getpwuid: couldn't determine user name from uid 4294967295",
      '2026-11-22T14:21:06Z | error | - | File does not exist: /a',
    ],
  },
  {
    name: 'morgan',
    by: 'morgan 1',
    isReal: true,
    text: '::ffff:127.0.0.1 - - [22/Nov/2026:14:20:57 +0000] "GET /cart?x=1 HTTP/1.1" 200 2 "-" "node"',
    says: ['2026-11-22T14:20:57Z | - | - | GET /cart | {"status":"200","bytes":"2"}'],
  },
  {
    name: 'morgan, dev, short and tiny, in Docker',
    by: 'morgan 1',
    isReal: true,
    text: [
      '\u001b[0mGET /cart?x=1 \u001b[32m200\u001b[0m 0.322 ms - 2\u001b[0m',
      '::ffff:127.0.0.1 - GET /cart?x=1 HTTP/1.1 200 2 - 0.263 ms',
      'GET /cart?x=1 200 2 - 0.198 ms',
    ]
      .map((log) => json({ log: `${log}\n`, stream: 'stdout', time: T }))
      .join('\n'),
    says: ['0.322', '0.263', '0.198'].map((duration_ms) => ({
      time: T,
      text: 'GET /cart',
      fields: { status: '200', duration_ms },
    })),
  },
  {
    name: 'Envoy, access log',
    by: 'Envoy',
    text: '[2026-11-22T14:20:57.260Z] "GET /cart HTTP/1.1" 503 UF 0 17 12 - "-" "curl" "a1" "shop" "10.0.0.1:80"\n[2026-11-22T14:20:57.260Z] "GET /cart HTTP/1.1" 200 - via_upstream - "-" 0 17 12 11 "-" "curl" "a1" "shop" "10.0.0.1:80"',
    says: [
      'T | - | - | GET /cart | {"status":"503","duration_ms":"12"}',
      'T | - | - | GET /cart | {"status":"200","duration_ms":"12"}',
    ],
  },
  {
    name: 'Envoy',
    by: 'Envoy',
    text: '[2026-11-22 14:20:57.260][1][warning][main] [source/server/server.cc:123] cache miss',
    says: ['T | warn | main | cache miss'],
  },
  {
    name: 'AWS load balancer',
    by: 'AWS',
    text: 'http 2026-11-22T14:20:57.260000Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.000 503 503 34 366 "GET http://www.example.com:80/cart HTTP/1.1" "curl/7.46.0" - - arn:aws "Root=1-58337262" "-" "-" 0 2026-11-22T14:20:57.259000Z "forward" "-" "-"',
    says: [
      'T | - | - | GET http://www.example.com:80/cart | {"status":"503","target_time":"0.001"}',
    ],
  },
  {
    name: 'HAProxy',
    by: 'HAProxy',
    text: 'Nov 22 14:20:57 lb haproxy[14389]: 10.0.1.2:33317 [22/Nov/2026:14:20:57.260] http-in static/srv1 10/0/30/69/109 503 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"',
    says: [
      'T | - | haproxy | GET /index.html | {"status":"503","duration_ms":"109","backend":"static"}',
    ],
  },
  {
    name: 'Squid',
    by: 'Squid',
    text: '1795357257.260    123 10.0.0.1 TCP_MISS/503 371 GET http://a.example/cart - HIER_DIRECT/10.1.0.1 text/html',
    says: ['T | - | - | GET http://a.example/cart | {"status":"503","duration_ms":"123"}'],
  },
  {
    name: 'Android logcat',
    by: 'Android',
    text: '11-22 14:20:57.260  1234  5678 W ActivityManager: cache miss',
    says: ['2000-11-22T14:20:57.260Z | warn | ActivityManager | cache miss'],
  },
  {
    name: 'dmesg',
    by: 'Linux',
    text: '[   12.500000] eth0: link up',
    says: ['1970-01-01T00:00:12.5Z | - | - | eth0: link up'],
  },
  {
    name: 'audit',
    by: 'Linux',
    text: 'type=SYSCALL msg=audit(1795357257.260:24287): arch=c000003e syscall=2 success=no exit=-13 comm="cat"',
    says: ['T | - | SYSCALL | arch=c000003e | {"success":"no","exit":"-13"}'],
  },
  {
    name: 'time in brackets, 12 hours, seconds since 1970',
    by: 'various',
    text: '[11/22/2026 2:20:57 PM] cache miss\n[1795357257.260] cache miss\n2026-11-22 02:20:57 PM cache miss',
    says: [
      '2026-11-22T14:20:57Z | - | - | cache miss',
      'T | - | - | cache miss',
      '2026-11-22T14:20:57Z | - | - | cache miss',
    ],
  },
  {
    name: 'level first',
    by: 'various',
    text: 'WARN 2026-11-22 14:20:57,260 cache miss for 3 keys\n[ERROR] [2026-11-22T14:20:57Z] cache miss',
    says: ['T | warn | - | cache miss for 3 keys', '2026-11-22T14:20:57Z | error | - | cache miss'],
  },
  {
    name: 'time, level, text',
    by: 'various',
    text: '2026-11-22 14:20:57.260 [WARN] cache miss\n2026-11-22T14:20:57Z | ERROR | cache miss\n2026-11-22 14:20:57 WARN cache miss status=503',
    says: [
      'T | warn | - | cache miss',
      '2026-11-22T14:20:57Z | error | - | cache miss',
      '2026-11-22T14:20:57Z | warn | - | cache miss | {"status":"503"}',
    ],
  },
  {
    name: 'journalctl -o short-unix',
    by: 'systemd',
    text: '1795357257.260000 web1 shop[12]: cache miss',
    says: ['T | - | shop | cache miss'],
  },
  {
    name: 'log4j, with pairs behind its text',
    by: 'log4j',
    text: '2026-11-22 14:20:57,260 WARN [main] shop.Cart: request completed route=/cart status=503 duration_ms=12.5',
    says: [
      'T | warn | Cart | request completed | {"route":"/cart","status":"503","duration_ms":"12.5"}',
    ],
  },
  {
    name: 'syslog, with pairs in its text',
    by: 'Linux (loghub)',
    text: 'Nov 22 14:20:57 combo sshd(pam_unix)[19939]: authentication failure; logname= uid=0 euid=0',
    says: [
      '2000-11-22T14:20:57Z | - | sshd(pam_unix) | authentication failure; logname= uid=0 euid=0',
    ],
  },
  {
    name: 'Spring Boot 2 with Sleuth',
    by: 'Spring Boot 2',
    text: '2026-11-22 14:20:57.260  WARN [shop,4bf92f3577b34da6a3ce929d0e0e4736,00f067aa0ba902b7] 1 --- [nio-8080-exec-1] shop.Cart : cache miss',
    says: ['T | warn | Cart | cache miss'],
  },
  {
    name: 'Flink',
    by: 'Flink',
    text: '2026-11-22 14:20:57,260 WARN  org.apache.flink.Cart                [] - cache miss',
    says: ['T | warn | Cart | cache miss'],
  },
  {
    name: 'log4net',
    by: 'log4net',
    text: '2026-11-22 14:20:57,260 [12] WARN  Shop.Cart [(null)] - cache miss',
    says: ['T | warn | Cart | cache miss'],
  },
  {
    name: 'log4cxx, with file',
    by: 'log4cxx',
    text: '2026-11-22 14:20:57,260 [0x7f] WARN  shop.cart (cart.cpp:12) - cache miss',
    says: ['T | warn | shop.cart | cache miss'],
  },
  {
    name: 'Jetty',
    by: 'Jetty 9',
    text: '2026-11-22 14:20:57.260:WARN:oejs.Server:main: cache miss',
    says: ['T | warn | Server | cache miss'],
  },
  {
    name: 'WildFly and Quarkus',
    by: 'WildFly, Quarkus',
    text: '2026-11-22 14:20:57,260 WARN  [io.quarkus] (main) cache miss',
    says: ['T | warn | io.quarkus | cache miss'],
  },
  {
    name: 'Play',
    by: 'Play',
    text: '2026-11-22 14:20:57,260 [warn] application - cache miss',
    says: ['T | warn | application | cache miss'],
  },
  {
    name: 'Storm',
    by: 'Storm',
    text: '2026-11-22T14:20:57.260+0000 b.s.d.worker [WARN] cache miss',
    says: ['T | warn | b.s.d.worker | cache miss'],
  },
  {
    name: 'Trino',
    by: 'Trino',
    text: '2026-11-22T14:20:57.260Z\tWARN\tmain\tio.trino.Bootstrap\tcache miss',
    says: ['T | warn | Bootstrap | cache miss'],
  },
  {
    name: 'Solr',
    by: 'Solr',
    text: '2026-11-22 14:20:57.260 WARN  (qtp-1) [c:x s:shard1] o.a.s.c.S.Request [x] slow query hits=3 QTime=12',
    says: ['T | warn | Request | slow query | {"hits":"3","QTime":"12"}'],
  },
  {
    name: 'TensorFlow',
    by: 'TensorFlow',
    text: '2026-11-22 14:20:57.260000: W tensorflow/core/x.cc:12] cache miss',
    says: ['T | warn | - | cache miss'],
  },
  {
    name: 'Ray',
    by: 'Ray',
    text: '[2026-11-22 14:20:57,260 W 12 14] (raylet) node.cc:12: cache miss',
    says: ['T | warn | - | cache miss'],
  },
  {
    name: 'spdlog',
    by: 'spdlog, Boost.Log',
    text: '[2026-11-22 14:20:57.260] [shop] [warning] cache miss\n[2026-11-22 14:20:57.260000] [0x00007f] [warning] cache miss',
    says: ['T | warn | shop | cache miss', 'T | warn | - | cache miss'],
  },
  {
    name: 'Django and Werkzeug',
    by: 'Django, Flask',
    text: '[22/Nov/2026 14:20:57] "GET /cart HTTP/1.1" 503 12\n127.0.0.1 - - [22/Nov/2026 14:20:57] "GET /cart HTTP/1.1" 503 -',
    says: [
      '2026-11-22T14:20:57Z | - | - | GET /cart | {"status":"503","bytes":"12"}',
      '2026-11-22T14:20:57Z | - | - | GET /cart | {"status":"503"}',
    ],
  },
  {
    name: 'uWSGI',
    by: 'uWSGI',
    text: '[pid: 12|app: 0|req: 1/1] 10.0.0.1 () {30 vars in 400 bytes} [Sun Nov 22 14:20:57 2026] GET /cart => generated 12 bytes in 3 msecs (HTTP/1.1 503) 2 headers in 80 bytes (1 switches on core 0)',
    says: ['2026-11-22T14:20:57Z | - | - | GET /cart | {"status":"503","duration_ms":"3"}'],
  },
  {
    name: 'Sidekiq',
    by: 'Sidekiq',
    text: '2026-11-22T14:20:57.260Z pid=1 tid=abc class=Job jid=1 WARN: cache miss',
    says: ['T | warn | Job | cache miss'],
  },
  {
    name: 'NestJS',
    by: 'NestJS',
    text: '[Nest] 123  - 11/22/2026, 2:20:57 PM     WARN [NestFactory] cache miss +2ms',
    says: ['2026-11-22T14:20:57Z | warn | NestFactory | cache miss'],
  },
  {
    name: 'AWS Lambda',
    by: 'AWS',
    text: '2026-11-22T14:20:57.260Z\t8a5f11aa-33bb-4c1d-9e2f-0123456789ab\tWARN\tcache miss\nREPORT RequestId: 8a5f11aa-33bb-4c1d-9e2f-0123456789ab\tDuration: 12.34 ms\tBilled Duration: 13 ms\tMemory Size: 128 MB\tMax Memory Used: 67 MB\t',
    says: [
      'T | warn | - | cache miss',
      'T | - | - | REPORT | {"duration_ms":"12.34","memory_mb":"67"}',
    ],
  },
  {
    name: 'Fluent Bit, its own log',
    by: 'Fluent Bit',
    text: '[2026/11/22 14:20:57] [ warn] [input] cache miss',
    says: ['2026-11-22T14:20:57Z | warn | input | cache miss'],
  },
  {
    name: 'Swift',
    by: 'swift-log',
    text: '2026-11-22T14:20:57+0000 warning shop.cart : cache miss',
    says: ['2026-11-22T14:20:57Z | warn | shop.cart | cache miss'],
  },
  {
    name: 'NATS',
    by: 'NATS',
    text: '[1] 2026/11/22 14:20:57.260000 [WRN] cache miss',
    says: ['T | warn | - | cache miss'],
  },
  {
    name: 'ClickHouse',
    by: 'ClickHouse',
    text: '2026.11.22 14:20:57.260000 [ 1 ] {a1} <Warning> Application: cache miss',
    says: ['T | warn | Application | cache miss'],
  },
  {
    name: 'SQL Server',
    by: 'SQL Server',
    text: '2026-11-22 14:20:57.26 spid12s     Starting up database shop',
    says: ['T | - | - | Starting up database shop'],
  },
  {
    name: 'Mosquitto',
    by: 'Mosquitto',
    text: '1795357257: New connection from 10.0.0.1',
    says: ['2026-11-22T14:20:57Z | - | - | New connection from 10.0.0.1'],
  },
  {
    name: 'Ceph',
    by: 'Ceph',
    text: '2026-11-22T14:20:57.260+0000 7f0123456789 -1 osd.0 cache miss',
    says: ['T | - | - | osd.0 cache miss'],
  },
  {
    name: 'BlueGene/L',
    by: 'BlueGene/L (loghub)',
    text: '- 1795357257 2026.11.22 R02-M1-N0 2026-11-22-06.20.57.675872 R02-M1-N0 RAS KERNEL FATAL cache parity error',
    says: ['2026-11-22T14:20:57Z | fatal | KERNEL | cache parity error'],
  },
  {
    name: 'Thunderbird',
    by: 'Thunderbird (loghub)',
    text: '- 1795357257 2026.11.22 dn228 Nov 22 06:20:57 dn228/dn228 crond(pam_unix)[2915]: session closed for root',
    says: ['2026-11-22T14:20:57Z | - | crond(pam_unix) | session closed for root'],
  },
])

/** Logs in many formats. */
export const FORMAT_SAMPLES: readonly FormatSample[] = [
  ...ENVELOPES,
  ...RECORDS,
  ...TEXTS,
  ...HEADS,
]
export const SAMPLE_GROUPS = { ENVELOPES, RECORDS, TEXTS, HEADS }

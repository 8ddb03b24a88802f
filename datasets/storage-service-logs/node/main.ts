import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { answerControl } from '../../storage-service/control/answer-control.ts'
import { type IngestSetup, ingest } from './ingest.ts'
import { Writer } from './writer.ts'

const writers = [1, 2].map((number) => new Writer(`writer ${number}`))
const server = createServer()
const connection = once(server, 'connection').then(([socket]) => socket as Socket)
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answerControl((server.address() as AddressInfo).port, {
  ingest: (setup: IngestSetup) => ingest(connection, writers, setup),
})

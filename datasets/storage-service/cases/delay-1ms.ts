import { storageNodeDelay } from './storage-node-delay.ts'

export const delay1ms = storageNodeDelay(1000, '1 ms')

import { storageNodeDelay } from './storage-node-delay.ts'

export const delay500us = storageNodeDelay(500, '500 µs')

import { storageNodeDelay } from './storage-node-delay.ts'

export const delay100us = storageNodeDelay(100, '100 µs')

import { describe, expect, test } from 'vitest'
import { encodeFrame, FrameReader } from '../../../datasets/storage-service/rpc/frame.ts'

describe('a frame', () => {
  const frames = [
    { header: { id: 1, text: 'µ' }, body: Buffer.from([0, 255, 10]) },
    { header: { id: 2 }, body: Buffer.alloc(0) },
  ]
  const stream = Buffer.concat(frames.map((frame) => encodeFrame<object>(frame)))

  test('comes out whole when the stream is cut into single bytes', () => {
    const reader = new FrameReader()
    const read = [...stream].flatMap((byte) => reader.push(Buffer.from([byte])))
    expect(read).toEqual(frames)
  })

  test('comes out with the next one when both arrive at once', () => {
    expect(new FrameReader().push(stream)).toEqual(frames)
  })
})

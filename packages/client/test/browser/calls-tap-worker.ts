// The worker of calls with a tap on both sides of it: every frame as it comes in, and as it is handed on, to the packetizer or
// to the decoder.
import type { FrameWay, TransformOptions } from '../../src/calls/call-worker-messages.ts'

/** A frame at the encryption or the decryption. */
export interface TappedFrame {
  readonly id: number
  readonly way: FrameWay
  readonly kind: 'audio' | 'video'
  /** Of video: whether it can be decoded by itself. */
  readonly type?: 'key' | 'delta' | 'empty'
  readonly timestamp: number
  /** What came in, or what was handed on: it is told twice, unless it was dropped. */
  readonly before?: Uint8Array
  readonly after?: Uint8Array
}

interface EncodedFrame {
  data: ArrayBuffer
  readonly type?: 'key' | 'delta' | 'empty'
  readonly timestamp: number
}

const channel = new BroadcastChannel('tap')
const wayOf = new WeakMap<ReadableStream, TransformOptions>()
const seen = new WeakMap<EncodedFrame, TappedFrame>()
// A worker that takes the place of another begins elsewhere.
let count = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0

globalThis.addEventListener('rtctransform', (event) => {
  if (!('transformer' in event)) return
  const { readable, options } = event.transformer as { readable: ReadableStream; options: TransformOptions }
  wayOf.set(readable, options)
})

const { pipeThrough } = ReadableStream.prototype
const { enqueue } = TransformStreamDefaultController.prototype

ReadableStream.prototype.pipeThrough = function <T>(
  this: ReadableStream,
  ...input: [ReadableWritablePair<T>, StreamPipeOptions?]
) {
  const options = wayOf.get(this)
  if (!options) throw new Error('a stream of no transform')
  const noted = Reflect.apply(pipeThrough, this, [
    new TransformStream<EncodedFrame, EncodedFrame>({
      transform: (frame, controller) => {
        const { type, timestamp } = frame
        count += 1
        const tapped: TappedFrame = {
          ...{ id: count, way: options.way, kind: options.kind, timestamp },
          ...(type === undefined ? {} : { type }),
        }
        seen.set(frame, tapped)
        channel.postMessage({ ...tapped, before: new Uint8Array(frame.data.slice(0)) })
        Reflect.apply(enqueue, controller, [frame])
      },
    }),
  ])
  return Reflect.apply(pipeThrough, noted, input) as ReadableStream<T>
}

TransformStreamDefaultController.prototype.enqueue = function (
  this: TransformStreamDefaultController,
  frame,
) {
  const tapped = seen.get(frame)
  if (tapped) channel.postMessage({ ...tapped, after: new Uint8Array(frame.data.slice(0)) })
  Reflect.apply(enqueue, this, [frame])
}

await import('../../src/calls/call-worker.ts')

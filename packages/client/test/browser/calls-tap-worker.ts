// The worker of calls, with a tap before and after its cipher: it posts every frame as it arrives, and as it
// is passed on to the packetizer or to the decoder.
import type { FrameWay, TransformOptions } from '../../src/calls/call-worker-messages.ts'

/** A frame that is encrypted or decrypted. */
export interface TappedFrame {
  readonly id: number
  readonly way: FrameWay
  readonly kind: 'audio' | 'video'
  /** Only for video: whether the frame can be decoded without others. */
  readonly type?: 'key' | 'delta' | 'empty'
  readonly timestamp: number
  /** The bytes before the cipher, or those after it: one in each post. A dropped frame has no second post. */
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
// Starts at a random number, so that a worker that replaces another does not use the same ids.
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
  if (!options) throw new Error('this stream belongs to no transform')
  const recorded = Reflect.apply(pipeThrough, this, [
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
  return Reflect.apply(pipeThrough, recorded, input) as ReadableStream<T>
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

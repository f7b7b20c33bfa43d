// The worker of calls with a tap behind it: every frame as it is handed on, to the packetizer or to the decoder.

/** A frame where it leaves the encryption or the decryption. */
export interface TappedFrame {
  readonly way: 'send' | 'receive'
  readonly kind: 'audio' | 'video'
  /** What came in, and what was handed on. */
  readonly before: Uint8Array
  readonly after: Uint8Array
}

const channel = new BroadcastChannel('tap')
const inputs = new WeakMap<object, Uint8Array>()

const { pipeThrough } = ReadableStream.prototype
const { enqueue } = TransformStreamDefaultController.prototype

// What a transform reads is noted as it is read, and what it hands on as it is handed on.
ReadableStream.prototype.pipeThrough = function <T>(
  this: ReadableStream,
  ...input: [ReadableWritablePair<T>, StreamPipeOptions?]
) {
  const noted = Reflect.apply(pipeThrough, this, [
    new TransformStream<{ data: ArrayBuffer }, { data: ArrayBuffer }>({
      transform: (frame, controller) => {
        inputs.set(frame, new Uint8Array(frame.data.slice(0)))
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
  const before = inputs.get(frame)
  if (before) {
    const after = new Uint8Array(frame.data.slice(0))
    const kind = frame.constructor.name.includes('Audio') ? 'audio' : 'video'
    const tapped: TappedFrame = {
      way: after.length > before.length ? 'send' : 'receive',
      kind,
      before,
      after,
    }
    channel.postMessage(tapped)
  }
  Reflect.apply(enqueue, this, [frame])
}

await import('../../src/calls/call-worker.ts')

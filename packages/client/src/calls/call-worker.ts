// The worker that encrypts and decrypts a call's frames with encoded transforms. A separate script, one
// worker per call.
import type { TransformOptions, WorkerKey, WorkerNotice } from './call-worker-messages.ts'
import { FrameDecryptor, FrameEncryptor } from './frame-cipher.ts'

/** An encoded frame of audio or video. */
interface EncodedFrame {
  data: ArrayBuffer
}

/** See `RTCRtpScriptTransformer` in WebRTC Encoded Transform. */
interface Transformer {
  readonly options: TransformOptions
  readonly readable: ReadableStream<EncodedFrame>
  readonly writable: WritableStream<EncodedFrame>
}

const ciphers = new Map<string, FrameEncryptor | FrameDecryptor>()
/** Keys that arrived before their transform. */
const keys = new Map<string, WorkerKey[]>()

globalThis.addEventListener('message', ({ data }: MessageEvent<WorkerKey>) => {
  const name = `${data.way} ${data.kind}`
  const cipher = ciphers.get(name)
  if (cipher) cipher.use(data.keyMaterial)
  else keys.set(name, [...(keys.get(name) ?? []), data])
})

globalThis.addEventListener('rtctransform', (event) => {
  if (!('transformer' in event)) return
  // The standard guarantees that these are the options that the page passed.
  const { options, readable, writable } = event.transformer as Transformer
  const name = `${options.way} ${options.kind}`
  const cipher =
    options.way === 'send'
      ? new FrameEncryptor(options.framesPerEpoch, () => notify('spent'))
      : new FrameDecryptor()
  for (const { keyMaterial } of keys.get(name) ?? []) cipher.use(keyMaterial)
  keys.delete(name)
  ciphers.set(name, cipher)
  const transform = new TransformStream<EncodedFrame, EncodedFrame>({
    transform: async (frame, controller) => {
      const transformed = await cipher.transform(new Uint8Array(frame.data))
      // The frame is dropped: an unencrypted frame is never sent, and one that does not decrypt is never
      // shown.
      if (!transformed) return
      const { buffer, byteOffset, byteLength } = transformed
      const data = buffer.slice(byteOffset, byteOffset + byteLength)
      if (!(data instanceof ArrayBuffer)) return
      frame.data = data
      controller.enqueue(frame)
    },
  })
  // The pipe ends when the track does.
  readable
    .pipeThrough(transform)
    .pipeTo(writable)
    .catch(() => {})
})

// The event of a transform that the page creates before this point would be lost.
notify('ready')

function notify(notice: WorkerNotice): void {
  globalThis.postMessage(notice)
}

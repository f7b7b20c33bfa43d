// The worker that encrypts and decrypts a call's frames, by encoded transforms. Loaded as a module of its own, one a call.
import type { TransformOptions, WorkerKey, WorkerNotice } from './call-worker-messages.ts'
import { FrameDecryptor, FrameEncryptor } from './frame-cipher.ts'

/** An encoded frame of either kind. */
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
/** Keys that came before their transform. */
const keys = new Map<string, WorkerKey[]>()

globalThis.addEventListener('message', ({ data }: MessageEvent<WorkerKey>) => {
  const name = `${data.way} ${data.kind}`
  const cipher = ciphers.get(name)
  if (cipher) cipher.use(data.keyMaterial)
  else keys.set(name, [...(keys.get(name) ?? []), data])
})

globalThis.addEventListener('rtctransform', (event) => {
  if (!('transformer' in event)) return
  // What the page has made with these options, by the standard's word.
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
      // Dropped: what is not encrypted is not sent, and what is not decrypted is not shown.
      if (!transformed) return
      const { buffer, byteOffset, byteLength } = transformed
      const data = buffer.slice(byteOffset, byteOffset + byteLength)
      if (!(data instanceof ArrayBuffer)) return
      frame.data = data
      controller.enqueue(frame)
    },
  })
  // Ends with the track.
  readable
    .pipeThrough(transform)
    .pipeTo(writable)
    .catch(() => {})
})

// A transform made before this would be told to nobody.
notify('ready')

function notify(notice: WorkerNotice): void {
  globalThis.postMessage(notice)
}

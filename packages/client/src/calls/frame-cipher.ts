// The frames of one track, in one direction: encrypted under the latest key, decrypted under the latest two. In the worker.
import { CallFrameReceiver, CallFrameSender, CryptoError } from '@sotto/crypto'

/** Encrypts what is sent. Without a key there is nothing to send. */
export class FrameEncryptor {
  readonly #framesPerEpoch: number
  readonly #onSpent: () => void
  #sender: CallFrameSender | undefined
  #framesLeft = 0

  /** @param onSpent told once for each key that has encrypted `framesPerEpoch` frames; it goes on until the next is there */
  constructor(framesPerEpoch: number, onSpent: () => void) {
    this.#framesPerEpoch = framesPerEpoch
    this.#onSpent = onSpent
  }

  /** Takes the key of a fresh epoch. */
  use(keyMaterial: Uint8Array): void {
    this.#sender = new CallFrameSender(keyMaterial)
    this.#framesLeft = this.#framesPerEpoch
  }

  /** The frame encrypted, or undefined where it may not be sent. */
  async transform(frame: Uint8Array): Promise<Uint8Array | undefined> {
    const sender = this.#sender
    if (!sender) return undefined
    this.#framesLeft -= 1
    if (this.#framesLeft === 0) this.#onSpent()
    try {
      return await sender.encrypt(frame)
    } catch (error) {
      if (error instanceof CryptoError && error.code === 'COUNTER_EXHAUSTED') return undefined
      throw error
    }
  }
}

/** Decrypts what is received. What does not decrypt is not there. */
export class FrameDecryptor {
  /** The latest first; the one before is for what is still under way. */
  #receivers: readonly CallFrameReceiver[] = []

  /** Takes the key of the other side's next epoch. */
  use(keyMaterial: Uint8Array): void {
    this.#receivers = [new CallFrameReceiver(keyMaterial), ...this.#receivers.slice(0, 1)]
  }

  /** The frame decrypted, or undefined where no key opens it or it was seen before. */
  async transform(frame: Uint8Array): Promise<Uint8Array | undefined> {
    for (const receiver of this.#receivers) {
      try {
        return await receiver.decrypt(frame)
      } catch (error) {
        // Chromium hands over empty audio frames as well, made of padding.
        if (!(error instanceof CryptoError)) throw error
      }
    }
    return undefined
  }
}

// Messages from one account to another, one after the other, while something else happens to their relay.
import { expect } from 'bun:test'
import { message, type WireAccount, type WireSocket } from './wire.ts'

/** One of the two. */
export interface Speaker {
  readonly account: WireAccount
  readonly socket: WireSocket
}

/**
 * Sends until it is ended. Each message must be acknowledged, arrive, and be confirmed before the next one:
 * otherwise the mailbox becomes full on a machine where the rest of the test takes long.
 * @returns what ends it: it rejects if a message was lost, and returns how many arrived
 */
export function startTalk(from: Speaker, to: Speaker, conv: string): () => Promise<number> {
  let isOver = false
  const talk = async (): Promise<number> => {
    let count = 0
    for (; !isOver || count === 0; count++) {
      const id = crypto.randomUUID()
      from.socket.send(message(to.account.alias, conv, 'x', id))
      let answer = await from.socket.next()
      while (answer.type === 'delivered') answer = await from.socket.next()
      expect(answer).toMatchObject({ type: 'ack', id })
      const arrived = await to.socket.next('msg')
      expect(arrived.id).toBe(id)
      to.socket.send({ type: 'delivered', conv_id: conv, seq: arrived.seq, to: from.account.alias })
    }
    return count
  }
  const talking = talk()
  talking.catch(() => undefined) // The caller who ends it gets the error.
  return () => {
    isOver = true
    return talking
  }
}

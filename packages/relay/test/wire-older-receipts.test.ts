// Older clients ignore the `seq` of a receipt: they take it for all of their messages of the conversation.
// They say `sync` without `receipts`, and get only marks that are true of all of these messages.
import { expect, test } from 'bun:test'
import { onEveryEngine } from './use-relay.ts'
import { befriend, message, type WireAccount, type WireSocket, wireAccount, wireFriends } from './wire.ts'

/** How long marks wait after the last repeat, at least. */
const AFTER_REPEAT_MS = 500
/** How long the marks wait for the first `sync`. */
const FIRST_SYNC_MS = 1000

const isMark = ({ type }: { type: string }): boolean => type === 'delivered' || type === 'read'
const markOf = ({ type, seq }: { type: string; seq: number }) => [type, seq]

/** Opens a connection as an older client does, and reads its backlog. @returns also the marks it got */
async function online(account: WireAccount) {
  const socket = await account.connect()
  await socket.untilSynced()
  socket.send({ type: 'sync', crypto_v: 1 })
  return { socket, marks: (await socket.untilSynced()).slice(0, -1).map(markOf) }
}

onEveryEngine((relay) => {
  /** Alice has an older client and has sent Bob these messages. Bob has confirmed none of them. */
  async function withMessages(ids: readonly string[]) {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await online(alice), await bob.online()]
    const send = (id: string) => alices.send(message(bob.alias, conv, id, id))
    const retract = (id: string) => alices.send({ type: 'retract', id, to: bob.alias, conv_id: conv })
    for (const id of ids) send(id)
    const acks = await alices.take(ids.length, 'ack')
    await bobs.take(ids.length, 'msg')
    const confirm = (type: string, seq: number) => bobs.send({ type, conv_id: conv, seq, to: alice.alias })
    /** The marks that Alice got because of what Bob has sent until now. */
    const marksUntilNow = async () => {
      bobs.send(message(alice.alias, conv, 'x', crypto.randomUUID()))
      await bobs.next('ack') // Frames are processed in order.
      return (await alices.untilPong()).filter(isMark).map(markOf)
    }
    return { alice, bob, conv, alices, bobs, acks, send, retract, confirm, marksUntilNow }
  }

  test.concurrent('an older client gets no mark that does not cover its last message, and those that do at once', async () => {
    const { confirm, marksUntilNow, send, alices } = await withMessages(['a1', 'a2', 'a3'])
    confirm('delivered', 1)
    confirm('read', 1)
    confirm('delivered', 2)
    expect(await marksUntilNow()).toEqual([])
    // Where `read` is withheld, `delivered` is judged by itself.
    confirm('delivered', 3)
    expect(await marksUntilNow()).toEqual([['delivered', 3]])
    confirm('read', 2)
    expect(await marksUntilNow()).toEqual([])
    confirm('read', 3)
    expect(await marksUntilNow()).toEqual([['read', 3]])
    send('a4')
    const { seq } = await alices.next('ack')
    confirm('read', seq - 1)
    expect(await marksUntilNow()).toEqual([])
    confirm('read', seq)
    expect(await marksUntilNow()).toEqual([['read', seq]])
  })

  test.concurrent('a mark that leaves just before the ack of a repeat is sent again after it', async () => {
    const { bob, conv, alices, confirm, send } = await withMessages([])
    for (let seq = 1; seq <= 10; seq++) {
      send(`a${seq}`)
      await alices.next('ack')
      // Both are mostly part of one commit, whose marks leave before its acks.
      alices.send(message(bob.alias, conv, 'again', `a${seq}`))
      confirm('read', seq)
      await alices.next('ack')
      alices.frames.length = 0
      expect(markOf(await alices.next('read'))).toEqual(['read', seq])
    }
  })

  test.concurrent('a client that reads `seq` gets every mark', async () => {
    const { alice, alices, confirm } = await withMessages(['a1', 'a2', 'a3'])
    await alices.close()
    const { socket } = await alice.online()
    confirm('delivered', 2)
    expect(markOf(await socket.next())).toEqual(['delivered', 2])
    confirm('read', 1)
    expect(markOf(await socket.next())).toEqual(['read', 1])
  })

  test.concurrent('what was withheld is not told: a later connection gets it, if it reads `seq` or if it covers by then', async () => {
    const { alice, alices, confirm, marksUntilNow } = await withMessages(['a1', 'a2'])
    confirm('read', 1)
    expect(await marksUntilNow()).toEqual([])
    await alices.close()
    const again = await online(alice)
    expect(again.marks).toEqual([])
    await again.socket.close()
    const { socket, backlog } = await alice.online()
    expect(backlog.filter(isMark).map(markOf)).toEqual([['read', 1]])
    await socket.close()
    confirm('delivered', 2)
    expect(await marksOfNext(alice)).toEqual([['delivered', 2]])
  })

  test.concurrent('a withheld mark goes when the later messages are retracted', async () => {
    const { confirm, marksUntilNow, retract } = await withMessages(['a1', 'a2', 'a3', 'a4'])
    confirm('delivered', 4)
    confirm('read', 2)
    expect(await marksUntilNow()).toEqual([['delivered', 4]])
    retract('a3')
    expect(await marksUntilNow()).toEqual([])
    retract('a4')
    expect(await nextMarks(1)).toEqual([['read', 2]])

    async function nextMarks(count: number) {
      const marks: (string | number)[][] = []
      while (marks.length < count) marks.push(...(await marksUntilNow()))
      return marks
    }
  })

  test.concurrent('a retraction before the confirmation, or in the same moment, withholds nothing', async () => {
    const { confirm, marksUntilNow, retract, alices } = await withMessages(['a1', 'a2'])
    retract('a2')
    await alices.next('retract_ack')
    confirm('read', 1)
    expect(await marksUntilNow()).toEqual([['read', 1]])
  })

  test.concurrent('after the ack of a repeat, live and repeated marks of the conversation wait together', async () => {
    const { alice, bob, conv, alices, confirm, send } = await withMessages(['a1', 'a2'])
    const carol = await wireAccount(relay.url)
    const other = await befriend(alice, carol)
    const { socket: carols } = await carol.online()
    confirm('delivered', 2)
    await alices.next('delivered')

    for (let isInTime = false; !isInTime; ) {
      alices.send(message(carol.alias, other, 'x', crypto.randomUUID()))
      const { seq } = await alices.next('ack')
      let lastSentAt = 0
      for (const id of ['a1', 'a2', 'a1']) {
        lastSentAt = performance.now() // The relay answers later, and the marks wait from then on.
        send(id)
        await alices.next('ack')
      }
      confirm('read', 2)
      carols.send({ type: 'read', conv_id: other, seq, to: alice.alias })
      carols.send(message(alice.alias, other, 'x', crypto.randomUUID()))
      await carols.next('ack') // Frames are processed in order.
      const early = (await alices.untilPong()).filter(isMark)
      // A slow machine may need as long as the marks wait.
      isInTime = performance.now() - lastSentAt < AFTER_REPEAT_MS - 50
      // Those of other conversations do not wait.
      if (isInTime) expect(early).toMatchObject([{ type: 'read', conv_id: other }])
      else if (early.some(({ conv_id }) => conv_id === conv)) continue
      expect(await alices.next('read')).toMatchObject({ conv_id: conv, seq: 2, from: bob.alias })
      expect(performance.now() - lastSentAt).toBeGreaterThanOrEqual(AFTER_REPEAT_MS - 50)
      expect((await alices.untilPong()).filter(isMark)).toEqual([]) // `read` says it all.
    }
  })

  test.concurrent('repeats without end delay the marks for two seconds at most', async () => {
    const { alices, confirm, send } = await withMessages(['a1'])
    confirm('read', 1)
    await alices.next('read')
    const startedAt = performance.now()
    send('a1')
    await alices.next('ack')
    for (;;) {
      send('a1')
      await alices.next('ack')
      if (alices.frames.some(isMark)) break
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(AFTER_REPEAT_MS)
    expect(markOf(await alices.next('read'))).toEqual(['read', 1])
    // The last repeats reset the mark again.
    expect(markOf(await alices.next('read'))).toEqual(['read', 1])
  })

  test.concurrent('a mark that was told is sent again after a repeat, also if only the next connection lives long enough', async () => {
    const { alice, alices, confirm, send, acks } = await withMessages(['a1', 'a2'])
    confirm('read', 2)
    await alices.next('read')
    send('a2')
    expect(await alices.next()).toEqual(acks[1])
    await alices.close()
    expect(await marksOfNext(alice)).toEqual([['read', 2]])
  })

  test.concurrent('after a repeat, too, only marks that cover the last message are sent', async () => {
    const { alices, confirm, send, marksUntilNow } = await withMessages(['a1', 'a2'])
    confirm('delivered', 2)
    await alices.next('delivered')
    send('a3')
    await alices.next('ack')
    send('a1')
    await alices.next('ack')
    confirm('read', 2)
    await new Promise((resolve) => setTimeout(resolve, AFTER_REPEAT_MS + 300))
    expect(await marksUntilNow()).toEqual([])
    confirm('delivered', 3)
    expect(await marksUntilNow()).toEqual([['delivered', 3]])
  })

  test.concurrent('no mark leaves before the first sync, and those that waited leave with it', async () => {
    const { alice, bob, conv, alices, bobs, confirm } = await withMessages(['a1', 'a2'])
    await alices.close()
    confirm('delivered', 2)
    for (let isInTime = false; !isInTime; ) {
      const startedAt = performance.now()
      const unsynced = await alice.connect()
      const backlog = await unsynced.untilSynced()
      confirm('read', 1)
      bobs.send({ type: 'retract', id: 'none', to: alice.alias, conv_id: conv })
      await bobs.next('retract_ack') // Frames are processed in order.
      const early = (await unsynced.untilPong()).filter(isMark)
      // A slow machine may need the second after which a connection is taken for that of an older client.
      isInTime = performance.now() - startedAt < FIRST_SYNC_MS
      if (isInTime) {
        expect([...backlog, ...early].filter(isMark)).toEqual([])
        const marks = await unsynced.synced()
        const got = marks.map(({ type, seq, count, from }) => [type, seq ?? count, from])
        expect(got).toEqual([
          ['delivered', 2, bob.alias],
          ['read', 1, bob.alias],
          ['sync_end', 2, undefined],
        ])
      }
      await unsynced.close()
    }
  })

  test.concurrent('without any sync, the marks leave after a second as for older clients', async () => {
    const { alice, alices, confirm } = await withMessages(['a1', 'a2'])
    await alices.close()
    confirm('read', 1)
    confirm('delivered', 2)
    const socket = await alice.connect()
    expect(markOf(await nextMark(socket))).toEqual(['delivered', 2])
    expect((await socket.untilPong()).filter(isMark)).toEqual([])
    confirm('read', 2)
    expect(markOf(await nextMark(socket))).toEqual(['read', 2])
  })

  test.concurrent('a later sync tells of another kind of client, and gets what was withheld', async () => {
    const { alices, confirm, marksUntilNow } = await withMessages(['a1', 'a2'])
    confirm('read', 1)
    expect(await marksUntilNow()).toEqual([])
    const marks = (await alices.synced()).filter(isMark)
    expect(marks.map(markOf)).toEqual([['read', 1]])
  })

  /** The marks that new connections of an older client get, as soon as there are any. */
  async function marksOfNext(account: WireAccount) {
    for (;;) {
      const { socket, marks } = await online(account)
      await socket.close()
      if (marks.length > 0) return marks
    }
  }
})

async function nextMark(socket: WireSocket) {
  for (;;) {
    const frame = await socket.next()
    if (isMark(frame)) return frame
  }
}

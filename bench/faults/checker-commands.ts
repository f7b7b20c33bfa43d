// HTTP requests and the friend frames they cause: tracks friendships, blocks and deleted accounts, and checks
// whether the relay's answers are possible.
import type { CommandFact, Facts, FrameEvent } from './facts.ts'
import type { HistoryEvent } from './history.ts'
import type { Pair } from './pair.ts'
import type { Switch } from './switch.ts'

type Began = Extract<HistoryEvent, { type: 'began' }>
type Ended = Extract<HistoryEvent, { type: 'ended' }>

export function readBegan(facts: Facts, { client, command, what, peer }: Began, n: number): void {
  const pair = facts.pairOf(client, peer)
  const turn = (which: Switch, on: boolean): CommandFact['changes'][number] => {
    const change = which.begin(on, n)
    return { change, drop: () => which.drop(change) }
  }
  const settledAt = facts.settledAt ?? n
  facts.commands.set(command, { client, what, began: n, settledAt, pair, changes: changesOf() })

  function changesOf(): CommandFact['changes'] {
    if (what === 'look') return []
    if (what === 'leave') {
      facts.gone.add(client)
      // Its sent messages still arrive, so this is not an erasure.
      return facts.pairsOf(client).map(({ friends }) => turn(friends, false))
    }
    if (!pair) return []
    switch (what) {
      case 'ask':
        pair.asks.push({ by: client, began: n, ended: Number.POSITIVE_INFINITY, friendship: undefined })
        pair.accepters.add(client)
        return [turn(pair.friends, true)] // A request to an account that has already asked accepts.
      case 'accept':
        pair.accepters.add(client)
        return [turn(pair.friends, true)]
      case 'part':
        return [part(pair)]
      case 'block':
        return [part(pair), turn(pair.blockBy(client), true)]
      case 'unblock':
        return [turn(pair.blockBy(client), false)]
      default:
        return what satisfies never
    }
  }

  function part(of: Pair): CommandFact['changes'][number] {
    const { change, drop } = turn(of.friends, false)
    of.erasures.push(change)
    const forget = (): void => {
      drop()
      of.erasures.splice(of.erasures.indexOf(change), 1)
    }
    return { change, drop: forget }
  }
}

export function readEnded(facts: Facts, event: Ended, n: number): void {
  const command = facts.commands.get(event.command)
  if (!command) return
  const { pair, settledAt, changes } = command
  switch (event.outcome) {
    case 'unknown':
      for (const { change } of changes) change.givenUpAt = n
      if ((event.error === 'INTERNAL' || event.error === 'RELAY_FULL') && !facts.mayFail)
        facts.report('refused', n, `${nameOf(event, command)}: ${event.error}`)
      return
    case 'refused':
      for (const { drop } of changes) drop()
      facts.commands.delete(event.command)
      readRefusal(facts, event, command, n)
      break
    case 'done':
      readSuccess(facts, event, command, n)
      break
    default:
      event.outcome satisfies never
  }
  // Without a connection, no answer came from the relay.
  if (event.error !== 'NO_CONNECTION') pair?.settle(settledAt, n)
}

function readSuccess(facts: Facts, event: Ended, command: CommandFact, n: number): void {
  const { what, began, pair, changes } = command
  if (what === 'look') checkList(facts, event, command, n)
  if (what === 'ask') noteAsk(event, command, n)
  if (pair && event.conv) facts.learn(pair, event.conv, n)
  if (what === 'ask' && event.status !== 'accepted') {
    for (const { drop } of changes) drop()
    if (!pair?.friends.canBe(false, began, n))
      facts.report('friends', n, `${nameOf(event, command)}: asked for what there was`)
    pair?.friends.saw(false, began, n)
    return
  }
  for (const { change } of changes) Object.assign(change, { ended: n, isCertain: true })
  if (what !== 'ask' && what !== 'accept') return
  for (const side of pair?.members ?? []) {
    if (!pair?.blockBy(side.client).canBe(false, began, n))
      facts.report('friends', n, `${nameOf(event, command)}: friends, though client ${side.client} blocks`)
  }
}

function noteAsk({ friendship }: Ended, { client, began, pair }: CommandFact, n: number): void {
  const ask = pair?.asks.find((each) => each.by === client && each.began === began)
  if (ask) Object.assign(ask, { ended: n, friendship })
}

/** Every rule that can refuse a request, and when it applies. */
function readRefusal(facts: Facts, event: Ended, command: CommandFact, n: number): void {
  const { client, what, began, pair } = command
  const { error = '' } = event
  if (pair && what === 'ask') {
    const index = pair.asks.findIndex((each) => each.by === client && each.began === began)
    pair.asks.splice(index, 1)
  }
  const isLeaving = [...facts.commands.values()].some(
    (each) => each.client === client && each.what === 'leave',
  )
  if (!isLeaving) facts.gone.delete(client)
  if (!mayRefuse()) facts.report('refused', n, `${nameOf(event, command)}: ${error}`)
  if (pair && error === 'ALREADY_FRIENDS') pair.friends.saw(true, began, n)

  function mayRefuse(): boolean {
    // Without a connection, nothing was requested. A token ends after a day, or with its account.
    if (error === 'NO_CONNECTION' || error === 'TOKEN_DEAD') return true
    if (!pair) return false
    const isGone = pair.members.some((member) => facts.gone.has(member.client))
    switch (error) {
      case 'ALREADY_FRIENDS':
        return what === 'ask' && pair.friends.canBe(true, began, n)
      case 'UNBLOCK_FIRST':
        return what === 'ask' && pair.blockBy(client).canBe(true, began, n)
      case 'NOT_FOUND':
        // Any command of the other side may have removed the request. This is not tracked here.
        if (what === 'accept') return true
        if (what === 'part') return pair.friends.canBe(false, began, n)
        return isGone
      default:
        return false
    }
  }
}

/** The friend list must show a state that was possible during the request. */
function checkList(facts: Facts, event: Ended, command: CommandFact, n: number): void {
  const { client, began, settledAt } = command
  const listed = new Map(event.list?.map((row) => [row.alias, row]))
  for (const { alias, conv } of listed.values()) {
    const pair = facts.pairOf(client, alias)
    if (pair && conv) facts.learn(pair, conv, n)
  }
  for (const pair of facts.pairsOf(client)) {
    const peer = pair.members.find((member) => member.client !== client)
    const areFriends = listed.get(peer?.alias ?? '')?.status === 'accepted'
    if (!pair.friends.canBe(areFriends, began, n))
      facts.report(
        'friends',
        n,
        `${nameOf(event, command)}: ${peer?.alias} as ${areFriends ? '' : 'no '}friend`,
      )
    pair.friends.saw(areFriends, began, n)
    pair.settle(settledAt, n)
  }
}

/**
 * A request must not reach an account that blocks its sender; an acceptance names the pair's conversation.
 */
export function readFriendFrame(facts: Facts, { client, connection, frame, n }: FrameEvent): void {
  const { type, from = '', friendship_id: friendship, conv_id: conv } = frame
  const name = `client ${client}, connection ${connection}: ${type} ${friendship} from ${from}`
  const pair = facts.pairOf(client, from)
  const peer = pair?.members.find((member) => member.client !== client)?.client
  if (!pair || peer === undefined) {
    facts.report('foreign', n, `${name}, whom nobody knows`)
    return
  }
  if (type === 'friend_request') {
    const mayReach = pair.asks.some((ask) => {
      const isThis = ask.friendship === undefined || ask.friendship === friendship
      return ask.by === peer && isThis && pair.blockBy(client).canBe(false, ask.began, Math.min(ask.ended, n))
    })
    if (!mayReach) facts.report('friends', n, `${name}: never asked, or blocked`)
    return
  }
  if (!pair.accepters.has(peer)) facts.report('friends', n, `${name}: never accepted`)
  if (conv) facts.learn(pair, conv, n)
}

function nameOf({ command }: Ended, { client, what, pair }: CommandFact): string {
  const peer = pair?.members.find((member) => member.client !== client)
  return `client ${client}, request ${command}: ${what} ${peer ? `client ${peer.client}` : ''}`.trim()
}

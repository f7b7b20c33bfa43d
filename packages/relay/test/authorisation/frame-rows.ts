// The rows of all frames that a client may send.
import type { CallFrameType, ClientFrameType } from '@sotto/protocol'
import { handshake, message } from '../wire.ts'
import { PAIR_TABLES } from './expect-changes.ts'
import type { FrameCase, FrameRow } from './frame-matrix.ts'

/** To the owner, in the conversation that it has or had with the caller. */
const ownConversation: Pick<FrameCase, 'about'> = { about: 'to the owner, in the conversation of the two' }
const othersConversation: Pick<FrameCase, 'about'> = {
  about: 'to the owner, in its conversation with another account',
}
const betweenOthers: Pick<FrameCase, 'about'> = { about: 'between the owner and another account' }

const msg: FrameRow = [
  {
    ...ownConversation,
    frame: ({ things, caller }) => message(things.alias, caller.conv, 'hello'),
    gets: {
      others: 'NOT_FRIENDS',
      friend: { answers: ['ack'], reaches: ['msg'], changes: PAIR_TABLES },
    },
  },
  {
    ...othersConversation,
    frame: ({ things }) => message(things.alias, things.conv, 'hello'),
    gets: { others: 'NOT_FRIENDS', friend: 'WRONG_CONVERSATION' },
  },
  {
    ...betweenOthers,
    frame: ({ things }) => message(things.friendAlias, things.conv, 'hello'),
    gets: {
      others: 'NOT_FRIENDS',
      owner: { answers: ['ack'], reaches: ['msg'], changes: PAIR_TABLES },
    },
  },
  {
    // An id is unique among the messages of its sender.
    about: 'with the id of another account’s message',
    prepare: ({ sockets, world }) => world.newMessage(sockets.confidant),
    frame: ({ things, caller }) => message(things.alias, caller.conv, 'hello', things.messageId),
    gets: { others: 'NOT_FRIENDS', friend: { answers: ['ack'], reaches: ['msg'], changes: PAIR_TABLES } },
  },
  {
    about: 'that ends an epoch of the conversation that the owner has or had with the caller',
    frame: ({ things, caller }) => handshake(things.alias, caller.conv, 0),
    gets: { others: 'NOT_FRIENDS', friend: { answers: ['ack'], reaches: ['msg'], changes: PAIR_TABLES } },
  },
  {
    about: 'that ends an epoch of the owner’s conversation with another account',
    frame: ({ things }) => handshake(things.alias, things.conv, 0),
    gets: { others: 'NOT_FRIENDS', friend: 'WRONG_CONVERSATION' },
  },
]

/** A receipt; `reaches` is what the sender of the message gets. */
const receipt = (...reaches: string[]): FrameRow => [
  {
    about: 'of a message to the owner',
    prepare: ({ sockets, world }) => world.newMessage(sockets.confidant),
    frame: ({ things }) => ({ conv_id: things.conv, seq: Number(things.seq), to: things.friendAlias }),
    gets: { others: 'WRONG_CONVERSATION', owner: { reaches, changes: PAIR_TABLES } },
  },
  {
    about: 'of a message of the owner to the caller, if there is one',
    prepare: async ({ sockets, caller }) => {
      if (caller.relation !== 'friend') return {}
      sockets.owner.send(message(caller.account.alias, caller.conv, 'to the friend'))
      return { seq: String((await sockets.owner.next('ack')).seq) }
    },
    frame: ({ things, caller }) => ({ conv_id: caller.conv, seq: Number(things.seq), to: things.alias }),
    gets: {
      others: 'WRONG_CONVERSATION',
      friend: { reaches, changes: PAIR_TABLES },
      // Their conversations have no message.
      ...{ parted: 'SEQ_UNKNOWN', blocked: 'SEQ_UNKNOWN', blocking: 'SEQ_UNKNOWN' },
    },
  },
]

const typing: FrameRow = [
  {
    ...ownConversation,
    frame: ({ things, caller }) => ({ to: things.alias, conv_id: caller.conv }),
    gets: { others: 'NOT_FRIENDS', friend: { reaches: ['typing'] } },
  },
  {
    ...othersConversation,
    frame: ({ things }) => ({ to: things.alias, conv_id: things.conv }),
    gets: { others: 'NOT_FRIENDS' },
  },
  {
    ...betweenOthers,
    frame: ({ things }) => ({ to: things.friendAlias, conv_id: things.conv }),
    gets: { others: 'NOT_FRIENDS', owner: { reaches: ['typing'] } },
  },
]

const newMessage: Pick<FrameCase, 'prepare'> = {
  prepare: ({ sockets, world }) => world.newMessage(sockets.confidant),
}
const retract: FrameRow = [
  {
    ...ownConversation,
    frame: ({ things, caller }) => ({ id: crypto.randomUUID(), to: things.alias, conv_id: caller.conv }),
    gets: {
      others: 'NOT_FRIENDS',
      friend: { answers: ['retract_ack'], reaches: ['retract'], changes: PAIR_TABLES },
    },
  },
  {
    ...newMessage,
    about: 'of another account’s message to the owner',
    frame: ({ things }) => ({ id: things.messageId, to: things.alias, conv_id: things.conv }),
    gets: { others: 'NOT_FRIENDS', friend: 'WRONG_CONVERSATION' },
  },
  {
    ...newMessage,
    about: 'of another account’s message, addressed to that account',
    frame: ({ things }) => ({ id: things.messageId, to: things.friendAlias, conv_id: things.conv }),
    gets: { others: 'NOT_FRIENDS', owner: 'NOT_YOUR_MESSAGE' },
  },
  {
    ...newMessage,
    about: 'of the id of another account’s message, in the conversation of the two',
    frame: ({ things, caller }) => ({ id: things.messageId, to: things.alias, conv_id: caller.conv }),
    // It is a retraction of the caller's own message with this id; the other message stays.
    gets: {
      others: 'NOT_FRIENDS',
      friend: { answers: ['retract_ack'], reaches: ['retract'], changes: PAIR_TABLES },
    },
  },
]

const signal = { call_id: 'call-1', crypto_v: 2, payload: 'AAAA' }
const call = (type: CallFrameType): FrameRow => [
  {
    about: 'to the owner',
    frame: ({ things }) => ({ ...signal, to: things.alias }),
    gets: { others: 'NOT_FRIENDS', friend: { reaches: [type] } },
  },
  {
    about: 'to the owner, in the owner’s name',
    frame: ({ things }) => ({ ...signal, to: things.alias, from: things.alias }),
    gets: { others: 'INVALID_FIELD', owner: 'NOT_FRIENDS' },
  },
  {
    about: 'to the owner, in the name of its friend',
    frame: ({ things }) => ({ ...signal, to: things.alias, from: things.friendAlias }),
    gets: { others: 'INVALID_FIELD' },
  },
  {
    about: 'to a friend of the owner',
    frame: ({ things }) => ({ ...signal, to: things.friendAlias }),
    gets: { others: 'NOT_FRIENDS', owner: { reaches: [type] } },
  },
]

/** The row of every frame. A frame without a row does not compile. */
export const frameRows: Readonly<Record<ClientFrameType, FrameRow>> = {
  ping: [{ about: 'alone', frame: () => ({}), gets: { others: { answers: ['pong'] } } }],
  sync: [
    {
      about: 'alone, or with the names of somebody else',
      // The last `sync` counts, and the rows of `msg` have version 3.
      frame: ({ things }) => ({ crypto_v: 3, to: things.alias, conv_id: things.conv }),
      gets: { others: { answers: ['sync_end'] } },
    },
  ],
  msg,
  delivered: receipt('delivered'),
  read: receipt('read'),
  typing,
  retract,
  call_offer: call('call_offer'),
  call_answer: call('call_answer'),
  call_reject: call('call_reject'),
  call_ice: call('call_ice'),
  call_hangup: call('call_hangup'),
}

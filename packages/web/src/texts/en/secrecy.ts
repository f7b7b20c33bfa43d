import { plural } from '../plural.ts'

// Forward secrecy of a conversation: whether it has it, what happened to it, and what the user decides.
export const secrecy = {
  title: 'Forward secrecy',
  has: 'Each message has its own key',
  hasText:
    'Each message has a key of its own, which is deleted after use. Whoever gets keys later cannot open with them what was sent before.',
  hasNot: 'Not yet',
  hasNotText: (name: string) =>
    `There is none yet: all messages have the one key of this conversation. As soon as ${name} has an app that can do it, it begins by itself.`,
  message: 'It had a key of its own, which is deleted.',
  messageNot: 'No: it has the one key of the conversation.',
  happened: 'What happened',
  look: 'Look',

  displaced: (name: string, others: number) =>
    others === 0
      ? `Another device of yours has the conversation with ${name}`
      : `Another device of yours has the conversations with ${name} and ${others} more`,
  displacedText:
    'Nothing is sent or read here until you use this device. If you have no other one, somebody has your recovery phrase.',
  useThisDevice: 'Use this device',
  ownRejoins: (name: string) => `This device cannot go on by itself in the conversation with ${name}`,
  ownRejoinsText:
    'It had to join again too often today, or cannot see whose keys it would replace. Perhaps another program uses your account. Nothing is sent or read there until you decide.',
  joinAgain: 'Join again',
  peerRejoins: (name: string) => `${name} has joined again unusually often today`,
  peerRejoinsText:
    'Somebody may have their recovery phrase. Ask them face to face or by phone. Nothing is sent or read there until you decide.',
  allowRejoins: 'Let them join',

  lower: 'Write without forward secrecy',
  lowerTitle: (name: string) => `Write to ${name} without forward secrecy?`,
  lowerText: (name: string) =>
    `Only if ${name} has an app now that cannot do it. Ask them face to face or by phone: a relay that wants to read along would make it look so. From then on, one key opens all messages, and whoever gets a recovery phrase gets it. Messages they have not got yet go that way, too; files wait on. It ends by itself when their app can do it again.`,
  loweredText: (name: string) =>
    `You have permitted messages without it. As soon as ${name} has an app that can do it, it begins again by itself.`,
  lowered: (name: string) =>
    `From here on messages to ${name} have no key of their own, because you permitted it.`,

  began: 'From here on each message has a key of its own.',
  peerRejoined: (name: string) =>
    `${name} has a new device, or has lost the keys on the old one. If they know nothing of it, somebody has their recovery phrase.`,
  rejoined: {
    no_state: 'This device has joined the conversation anew.',
    behind: 'This device had missed a change of keys, and has joined again.',
    relay_restored: 'The relay was restored from a backup, so this device has joined again.',
    relay_went_back: 'The relay has fallen back to an earlier state, so this device has joined again.',
    unreadable: 'The keys of the two sides differed, so this device has joined again.',
    forked: 'The relay had told the two sides different things, so this device has joined again.',
    store_behind: 'What this device had stored was an old copy, so it has joined again.',
    users_word: 'You have chosen to use this device.',
  },
  wasDisplaced: 'Another device of yours has taken over the conversation.',
  asksOwn: 'This device cannot go on by itself, and waits for your word.',
  asksPeer: (name: string) => `${name} has joined again too often, which waits for your word.`,
  missing: (name: string, count: number) =>
    `${plural('en', count, { one: '# message', other: '# messages' })} of ${name} did not arrive. The relay may have kept them back.`,
  outOfOrder: (name: string) => `A message of ${name} came late.`,
  historyDiffers: (name: string) =>
    `You and ${name} do not have the same earlier messages. The relay has shown you different ones.`,
  forked: 'The relay has told the two sides different things about the keys.',
  unreadable: (name: string) => `A message of ${name} could not be opened.`,
  falseHandshake:
    'Somebody without the keys has tried to change those of this conversation. Nothing was changed.',
  falseGroupInfo: 'The relay has sent false records of this conversation. They are not used.',
  foreignKeyPackage: (name: string) =>
    `The relay has sent keys for ${name} that are somebody else’s. They are not used.`,
  noKeyPackages: (name: string) =>
    `${name} has left no keys at the relay. What you write is sent once they have used their app. If their app has no forward secrecy any more, you can permit messages without it where their security code is.`,
  waits: (name: string) =>
    `${name} is using an app without forward secrecy now. What you write waits until they use one that has it. Where their security code is, you can permit later messages without it.`,
  relayRestored: 'The relay was restored from a backup.',
  relayWentBack: 'The relay has fallen back to an earlier state, and did not say why.',
  storeBehind: 'What this device has stored is older than what it has sent.',
  handshakeFailed: 'The relay has refused a change of keys.',
  laterVersion: (name: string) =>
    `A newer version of Sotto was used here with ${name}, and this one cannot read its keys. Messages wait, and none is lost. Reload the page to get the newer version.`,
}

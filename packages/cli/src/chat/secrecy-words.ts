// What happens to the forward secrecy of a conversation, in words for people.
import type { SecrecyEvent, SecrecyStop } from '@sotto/client'

type Notice = SecrecyEvent['notice']
type Reason = NonNullable<Extract<Notice, { readonly tell: 'rejoined' }>['reason']>

/** Whether a conversation, or a message, has forward secrecy. */
export function secrecyWord(hasForwardSecrecy: boolean): string {
  return hasForwardSecrecy ? 'with forward secrecy' : 'without forward secrecy'
}

/** Why this device joined a conversation again, as the end of a sentence. */
const REASONS: Record<Reason, string> = {
  no_state: 'it had no keys for it',
  behind: 'it lacked a change of keys',
  relay_restored: 'the relay was restored from a backup',
  relay_went_back: 'the relay’s record of it is older than it was',
  unreadable: 'messages could not be opened',
  forked: 'the two sides did not have the same keys',
  store_behind: 'this folder is older than what was sent',
  users_word: 'you said so',
}

/**
 * A notice as a line for people.
 * @param name the contact's name, safe to print
 * @param alias the contact's alias, for commands
 * @returns undefined for a message that cannot be opened: the event `error` says that
 */
export function secrecyNotice(notice: Notice, name: string, alias: string): string | undefined {
  switch (notice.tell) {
    case 'began':
      return `• From here on, messages with ${name} have forward secrecy.`
    case 'rejoined':
      return notice.by === 'peer' ? peerRejoined(name) : ownRejoined(name, notice.reason)
    case 'displaced':
      return stopWords('displaced', name, alias)
    case 'asks':
      return stopWords(notice.of, name, alias)
    case 'missing':
      return notice.count === 1
        ? `! A message of ${name} is missing: it was sent, and the relay did not deliver it.`
        : `! ${notice.count} messages of ${name} are missing: they were sent, and the relay did not deliver them.`
    case 'out_of_order':
      return `! A message of ${name} came after others that were sent later. The relay changed the order.`
    case 'history_differs':
      return `! You and ${name} do not have the same earlier messages. The relay may have shown each of you something else: compare them.`
    case 'unreadable':
      return undefined
    case 'forked':
      return `! The relay accepted two changes of keys with ${name} where only one can be. This device joins again.`
    case 'false_handshake':
      return `! A change of keys was refused: it is not ${name}’s, or it breaks a rule. Nothing was opened with it.`
    case 'false_group_info':
      return `! The relay’s record of the keys with ${name} is false. It was not used.`
    case 'foreign_key_package':
      return `! The relay gave out keys for ${name} that are not ${name}’s, or too old. They were not used.`
    case 'no_key_packages':
      return `• ${name}’s device has left no keys at the relay. Messages wait until it connects. If ${name} has gone back to an app without forward secrecy, /allowolder ${alias} sends without it.`
    case 'waits':
      return `• ${name} is connected with a client that has no forward secrecy. Messages wait until one that has it connects. /allowolder ${alias} sends them, and later ones, without it.`
    case 'relay_restored':
      return `• The relay was restored from a backup. The conversation with ${name} gets new keys.`
    case 'relay_went_back':
      return `! The relay’s record of the conversation with ${name} is older than it was, and the relay does not say why.`
    case 'store_behind':
      return `! This folder is older than what was sent to ${name}. Is it a copy? This device joins again, with new keys.`
    case 'handshake_failed':
      return `! The relay refused a change of keys with ${name}.`
    case 'lowered':
      return `! From here on, messages with ${name} go without forward secrecy, because you said so: one key opens all of them, and a recovery phrase gives it. Ask ${name} over another channel whether their app has changed: a relay that wants to read along would make it look so. This ends when ${name}’s app has forward secrecy again.`
    case 'later_version':
      return `! A newer version of this program was used with ${name} in this folder, and this one cannot read its keys. Messages wait here and at the relay, and none is lost. Start the newer version again.`
    default:
      return notice satisfies never
  }
}

/** What holds up a conversation until the user decides, and by which command. */
export function stopWords(stop: SecrecyStop, name: string, alias: string): string {
  switch (stop) {
    case 'displaced':
      return `! Another device of yours has taken over the conversation with ${name}, so messages wait here. /rejoin ${alias} brings it back to this device. If you have no other device, somebody has your recovery phrase.`
    case 'own_rejoins':
      return `! This device had to join the conversation with ${name} again too often today, so messages wait. Does another device use it too? /rejoin ${alias} joins once more.`
    case 'peer_rejoins':
      return `! ${name} has joined again too often today, so messages wait. Ask ${name} over another channel why: somebody else may have their recovery phrase. /allowrejoin ${alias} goes on.`
    default:
      return stop satisfies never
  }
}

function peerRejoined(name: string): string {
  return `! ${name} has joined again with new keys: from another device, or because the keys were lost. If ${name} knows nothing of it, somebody else has their recovery phrase.`
}

function ownRejoined(name: string, reason: Reason | undefined): string {
  const why = reason === undefined ? '' : `, because ${REASONS[reason]}`
  return `• This device has joined the conversation with ${name} again${why}. ${name} sees it.`
}

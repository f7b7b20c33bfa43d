// The words for what happens to the forward secrecy of a conversation.
import type { SecrecyEvent } from '@sotto/client'
import { secrecy } from './en/secrecy.ts'
import { translated } from './texts.ts'

export const secrecyTexts = translated(secrecy, { ar: async () => (await import('./ar/secrecy.ts')).secrecy })

/**
 * What a notice tells, in the user's language; undefined for one of a later version, which another tab may
 * run. `name` is the contact's.
 */
export function secrecyWords(notice: SecrecyEvent['notice'], name: string): string | undefined {
  const t = secrecyTexts.value
  switch (notice.tell) {
    case 'began':
      return t.began
    case 'rejoined':
      return notice.by === 'peer' ? t.peerRejoined(name) : t.rejoined[notice.reason ?? 'no_state']
    case 'displaced':
      return t.wasDisplaced
    case 'asks':
      return notice.of === 'own_rejoins' ? t.asksOwn : t.asksPeer(name)
    case 'missing':
      return t.missing(name, notice.count)
    case 'out_of_order':
      return t.outOfOrder(name)
    case 'history_differs':
      return t.historyDiffers(name)
    case 'forked':
      return t.forked
    case 'unreadable':
      return t.unreadable(name)
    case 'false_handshake':
      return t.falseHandshake
    case 'false_group_info':
      return t.falseGroupInfo
    case 'foreign_key_package':
      return t.foreignKeyPackage(name)
    case 'no_key_packages':
      return t.noKeyPackages(name)
    case 'waits':
      return t.waits(name)
    case 'relay_restored':
      return t.relayRestored
    case 'relay_went_back':
      return t.relayWentBack
    case 'store_behind':
      return t.storeBehind
    case 'handshake_failed':
      return t.handshakeFailed
    case 'lowered':
      return t.lowered(name)
    case 'later_version':
      return t.laterVersion(name)
    default:
      notice satisfies never
      return undefined
  }
}

// Defects of the course of a conversation, each as a few words of its source. The model finds every one.
import type { Patch } from '../faults/tested-mutations.ts'

export interface Defect {
  readonly name: string
  readonly patches: readonly Patch[]
}

function defect(name: string, file: string, from: string, to: string): Defect {
  return { name, patches: [{ file: `packages/client/src/secrecy/version-3/${file}`, from, to }] }
}

export const defects: readonly Defect[] = [
  defect(
    'old epochs are dropped when this device commits',
    'epochs.ts',
    "by === 'own' && kept.epoch < epoch",
    'kept.epoch < 0',
  ),
  defect(
    'the state after decrypting is not kept',
    'receiving.ts',
    '(each === kept ? { ...kept, group } : each)',
    '(each === kept ? { ...kept, group: kept.group ?? group } : each)',
  ),
  defect(
    'the state after encrypting is not kept',
    'sending.ts',
    '[...course.groups.slice(0, -1), { ...present, group }]',
    '[...course.groups.slice(0, -1), { ...present, group: present.group ?? group }]',
  ),
  defect(
    'messages leave while a handshake is pending',
    'course.ts',
    '|| doubt || stop || pending) return false',
    '|| doubt || stop) return false',
  ),
  defect(
    'nothing is sent again after a join',
    'sending.ts',
    'each.era < era && !present.has(rootOf(each))',
    'each.era < 0 && !present.has(rootOf(each))',
  ),
  defect(
    'a message of a later epoch is given up',
    'receiving.ts',
    '  turn.leave()\n',
    '  showUnreadable(turn, frame)\n',
  ),
  defect(
    'the relay’s record of the last message is not compared',
    'joining.ts',
    'sentSeq === undefined || sentSeq <= course.ownSeq',
    'sentSeq === undefined || sentSeq >= 0',
  ),
  defect(
    'a stale message keeps its ciphertext',
    'sending.ts',
    "  turn.keep.push({ keep: 'ciphertext_gone', id })\n",
    '',
  ),
  defect(
    'missing messages are not told',
    'receiving.ts',
    "  turn.tell({ tell: 'missing', count: Math.min(count, MOST_MISSING) })\n",
    '',
  ),
  defect('unreadable messages are not told', 'receiving.ts', "  turn.tell({ tell: 'unreadable', id })\n", ''),
  defect(
    'a restored relay is not noticed',
    'step.ts',
    'incarnation !== course.incarnation\n',
    "incarnation === ''\n",
  ),
  defect(
    'a pending handshake is not sent again',
    'step.ts',
    'connection.sentHandshake === pending.id) return',
    '!turn.handshake && turn.course.connection.looks < 1) return',
  ),
  defect(
    'stale messages are counted twice',
    'sending.ts',
    'own: chainBefore(turn, first) })\n}\n\n/** The message will',
    'own: turn.course.own })\n}\n\n/** The message will',
  ),
  defect('known messages are opened again', 'receiving.ts', 'frame.isKnown || turn', 'turn'),
  defect(
    'received handshakes and acknowledgements are not remembered',
    'turn.ts',
    '.slice(-CONTROLS) })',
    '.slice(0, CONTROLS * 0) })',
  ),
]

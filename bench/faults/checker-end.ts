// What a history must hold once everybody is back, has sent all it had to send and confirmed all it received.
import type { ConversationFact, Facts, Lane, MessageFact } from './facts.ts'

export function checkEnd(facts: Facts, n: number): void {
  for (const message of facts.messages.values()) checkMessage(facts, message, n)
  for (const lane of facts.lanes) checkLane(facts, lane, n)
  for (const conversation of facts.conversations.values()) {
    checkNumbers(facts, conversation, n)
    checkSendingOrder(facts, conversation, n)
  }
}

function checkMessage(facts: Facts, message: MessageFact, n: number): void {
  const { sender, recipient, id, conv, seq } = message
  const name = `${id} of client ${sender} for client ${recipient} in ${conv}, seq ${seq}`
  if (message.sentAt !== undefined && message.ackedAt === undefined)
    facts.report('unanswered', n, `${name}: never acknowledged`)
  if (message.retractSentAt !== undefined && message.retractAckedAt === undefined)
    facts.report('unanswered', n, `${name}: its retraction was never acknowledged`)
  const isGone = message.retractSentAt !== undefined
  if (message.ackedAt !== undefined && message.receivedAt === undefined && !isGone)
    facts.report('lost', n, `${name}: acknowledged at event ${message.ackedAt}, never delivered`)
  if (message.retractAckedAt !== undefined && message.retractReceivedAt === undefined)
    facts.report('retraction', n, `${name}: the retraction never arrived`)
}

function checkLane(facts: Facts, lane: Lane, n: number): void {
  const name = `client ${lane.sender} about client ${lane.recipient} in ${lane.conv}`
  if (lane.toldDelivered < lane.sentDelivered)
    facts.report('receipt', n, `${name}: told of ${lane.toldDelivered}, confirmed was ${lane.sentDelivered}`)
  if (lane.toldRead < lane.sentRead)
    facts.report('receipt', n, `${name}: told of read ${lane.toldRead}, read was ${lane.sentRead}`)
}

function checkNumbers(facts: Facts, { conv, numbers }: ConversationFact, n: number): void {
  const sorted = [...numbers].sort(([a], [b]) => a - b)
  let [next, at] = [1, 0]
  for (const [seq, number] of sorted) {
    if (seq !== next) facts.report('gap', n, `${conv}: nothing has seq ${next} to ${seq - 1}`)
    if (number.at < at) facts.report('time', n, `${conv}: at fell with seq ${seq}`)
    next = seq + 1
    at = number.at
  }
}

// Clients send again in order whatever was not acknowledged, so that messages are stored in the order of their first
// sending. Not so one that was refused for a while, or whose retraction went ahead.
function checkSendingOrder(facts: Facts, { conv, members }: ConversationFact, n: number): void {
  for (const { client } of members) {
    const own = [...facts.messages.values()]
      .filter((message) => message.sender === client && message.conv === conv)
      .filter(({ wasRefused, seq, sentAt }) => !wasRefused && seq !== undefined && sentAt !== undefined)
      .filter(({ retractSentAt, ackedAt }) => retractSentAt === undefined || (ackedAt ?? 0) < retractSentAt)
      .sort((a, b) => (a.sentAt ?? 0) - (b.sentAt ?? 0))
    let last = 0
    for (const { id, seq = 0 } of own) {
      if (seq < last)
        facts.report('order', n, `${conv}: ${id} of client ${client} was sent later than seq ${last}`)
      last = Math.max(last, seq)
    }
  }
}

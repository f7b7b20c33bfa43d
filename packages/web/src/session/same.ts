// Lists that are read again keep the objects of what has not changed, so that it is not drawn again.

/** What a list has in it: a record that is named by its conversation and, for a message, its side and id. */
interface Named {
  readonly conversationId: string
  readonly isMe?: boolean
  readonly id?: string
}

/** A list with the objects of an earlier one for what has not changed; the earlier list if nothing has. */
export function withSame<T extends Named>(before: readonly T[], after: readonly T[]): readonly T[] {
  const known = new Map(before.map((each) => [nameOf(each), each]))
  const list = after.map((each) => {
    const same = known.get(nameOf(each))
    return same !== undefined && isSame(same, each) ? same : each
  })
  return list.length === before.length && list.every((each, at) => each === before[at]) ? before : list
}

function nameOf({ conversationId, isMe, id }: Named): string {
  return `${conversationId} ${isMe} ${id}`
}

/** Whether two values say the same. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false
  const [fields, others] = [Object.entries(one), new Map<string, unknown>(Object.entries(other))]
  return fields.length === others.size && fields.every(([name, value]) => isSame(value, others.get(name)))
}

// IndexedDB's requests as promises. Code that awaits one continues within its transaction.

/** The result of a request. A failed request aborts its transaction. */
export function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/** The `seq` in a key of an index whose keys have it after the conversation. */
export function seqOf(key: IDBValidKey): number {
  return Array.isArray(key) ? Number(key[1]) : 0
}

/** The range of all keys that begin with these parts. An array sorts after every number and text. */
export function startingWith(...parts: readonly (string | number)[]): IDBKeyRange {
  return IDBKeyRange.bound([...parts], [...parts, []])
}

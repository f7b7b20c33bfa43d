// IndexedDB's requests and cursors as promises. Code that awaits one continues within its transaction.

/** The result of a request. A failed request aborts its transaction. */
export function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/** Passes the values of an index to `take`, from the end downwards, as long as `take` returns true. */
export function walkDown(
  index: IDBIndex,
  range: IDBKeyRange | null,
  take: (value: unknown) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = index.openCursor(range, 'prev')
    request.onerror = () => reject(request.error)
    request.onsuccess = () => {
      const cursor = request.result
      // An error thrown in the handler would only abort the transaction and not reach the caller.
      try {
        if (cursor && take(cursor.value)) cursor.continue()
        else resolve()
      } catch (error) {
        reject(error)
      }
    }
  })
}

/** The range of all keys that begin with these parts. An array sorts after every number and text. */
export function startingWith(...parts: readonly (string | number)[]): IDBKeyRange {
  return IDBKeyRange.bound([...parts], [...parts, []])
}

// IndexedDB's requests and cursors as promises. What awaits one goes on within its transaction.

/** The result of a request. A request that failed aborts its transaction. */
export function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/** Values from the end of an index, down, for as long as `take` answers true. */
export function walkDown(
  index: IDBIndex,
  range: IDBKeyRange,
  take: (value: unknown) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = index.openCursor(range, 'prev')
    request.onerror = () => reject(request.error)
    request.onsuccess = () => {
      const cursor = request.result
      // What is thrown in a handler aborts the transaction and reaches nobody.
      try {
        if (cursor && take(cursor.value)) cursor.continue()
        else resolve()
      } catch (error) {
        reject(error)
      }
    }
  })
}

/** Every key that begins with these parts: an array sorts after every number and text. */
export function startingWith(...parts: readonly (string | number)[]): IDBKeyRange {
  return IDBKeyRange.bound([...parts], [...parts, []])
}

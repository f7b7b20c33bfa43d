// Accounts in bulk, made over the wire as anybody makes theirs.
import { WireAccount } from '@sotto/relay/testing/wire'

/** Registered and logged in, a few at a time. */
export async function makeAccounts(url: string, count: number): Promise<WireAccount[]> {
  const accounts: WireAccount[] = []
  for (let index = 0; index < count; index++) {
    const account = new WireAccount(url)
    await account.register()
    await account.login()
    accounts.push(account)
  }
  return accounts
}

/** Runs `work` for each item, so many at once, and resolves when all are done. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

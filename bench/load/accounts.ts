// Registers many accounts over the wire, as clients do.
import { WireAccount } from '@sotto/relay/testing/wire'

/** Registers `count` accounts and logs them in, one after the other. */
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

/** Runs `work` for each item, at most `atOnce` at the same time, and resolves when all are done. */
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

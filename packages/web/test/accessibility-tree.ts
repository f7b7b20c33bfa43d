// What the browser tells screen readers: the accessibility tree of a page, by the DevTools protocol.
import type { CDPSession, Page } from 'playwright-core'

/** A node of the tree, by what a screen reader says of it. */
export interface SpokenNode {
  readonly role: string
  readonly name: string
}

interface AxNode {
  readonly ignored: boolean
  readonly role?: { readonly value?: string }
  readonly name?: { readonly value?: string }
  readonly parentId?: string
  readonly nodeId: string
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[]
}

export class AccessibilityTree {
  readonly #session: CDPSession

  private constructor(session: CDPSession) {
    this.#session = session
  }

  /** Opens the tree of a page. */
  static async of(page: Page): Promise<AccessibilityTree> {
    const session = await page.context().newCDPSession(page)
    await session.send('Accessibility.enable')
    return new AccessibilityTree(session)
  }

  /** All nodes that a screen reader can come to. */
  async nodes(): Promise<readonly SpokenNode[]> {
    const { nodes } = await this.#session.send('Accessibility.getFullAXTree')
    return nodes.filter(({ ignored }) => !ignored).map(spoken)
  }

  /** How the live region is told that has this text: `polite` or `assertive`. Undefined if none has it. */
  async live(text: string): Promise<unknown> {
    const all: readonly AxNode[] = (await this.#session.send('Accessibility.getFullAXTree')).nodes
    let node = all.find((each) => each.name?.value === text)
    while (node) {
      const live = node.properties?.find(({ name }) => name === 'live')
      if (live) return live.value.value
      node = all.find(({ nodeId }) => nodeId === node?.parentId)
    }
    return undefined
  }

  /** The node that has the focus. */
  async focused(): Promise<SpokenNode> {
    const { result } = await this.#session.send('Runtime.evaluate', { expression: 'document.activeElement' })
    if (result.objectId === undefined) return { role: 'none', name: '' }
    const { nodes } = await this.#session.send('Accessibility.getPartialAXTree', {
      objectId: result.objectId,
      fetchRelatives: false,
    })
    const [node] = nodes
    return node ? spoken(node) : { role: 'none', name: '' }
  }
}

function spoken({ role, name }: AxNode): SpokenNode {
  return { role: role?.value ?? '', name: name?.value ?? '' }
}

// What the user is reporting to the relay's operator. The dialog for it is above every screen.
import { signal } from '@preact/signals'

/** What can be reported. */
export type Reportable = { readonly name: string } & (
  | {
      readonly kind: 'account' | 'friendRequest'
      readonly aliasId: string
      /** What the reporter can show the operator: the text of a message, or the words of the request. */
      readonly content?: string | undefined
    }
  | { readonly kind: 'channel'; readonly channelId: string }
  | { readonly kind: 'post'; readonly channelId: string; readonly postId: string }
)

/** What is being reported; undefined while nothing is. */
export const reporting = signal<Reportable | undefined>(undefined)

// The English texts that are needed before the first message. Their shape is the type of every language's.
import { chats } from './chats.ts'
import { common } from './common.ts'
import { conversation } from './conversation.ts'
import { errors } from './errors.ts'
import { updates } from './updates.ts'
import { welcome } from './welcome.ts'

export const en = {
  common,
  chats,
  conversation,
  errors,
  updates,
  welcome,
}

// The Arabic texts that are needed before the first message.
import type { en } from '../en/en.ts'
import { chats } from './chats.ts'
import { common } from './common.ts'
import { conversation } from './conversation.ts'
import { errors } from './errors.ts'
import { updates } from './updates.ts'
import { welcome } from './welcome.ts'

export const ar: typeof en = {
  common,
  chats,
  conversation,
  errors,
  updates,
  welcome,
}

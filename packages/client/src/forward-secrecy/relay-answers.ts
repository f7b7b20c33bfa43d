// What a course asks of the relay, and the answers as its events.
import { decodeBase64 } from '@sotto/crypto'
import { type ConversationId, conversationEndpoints, keyPackageEndpoints } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { CourseEvent } from '../secrecy/version-3/version-3.ts'
import type { Http } from '../wire/wire.ts'

/** Asks the relay for a conversation’s group, or for key packages. @throws ClientError as `Http.call` does */
export async function answerTo(
  http: Pick<Http, 'call'>,
  conv_id: ConversationId,
  ask: 'group' | 'key_packages',
): Promise<CourseEvent> {
  const params = { conv_id }
  if (ask === 'group') {
    const group = await http.call(conversationEndpoints.conversationGroup, { params })
    const { epoch, group_info: groupInfo, sent_seq: sentSeq } = group
    return {
      ...{ type: 'group', epoch },
      ...(groupInfo === undefined ? {} : { groupInfo: decodeBase64(groupInfo) }),
      ...(sentSeq === undefined ? {} : { sentSeq }),
    }
  }
  try {
    const { packages } = await http.call(keyPackageEndpoints.claimKeyPackages, { params })
    const read = packages.map((each) => ({ device: each.device, package: decodeBase64(each.package) }))
    return { type: 'key_packages', packages: read }
  } catch (error) {
    if (error instanceof ClientError && error.refusal === 'NO_KEY_PACKAGES')
      return { type: 'key_packages', packages: [] }
    throw error
  }
}

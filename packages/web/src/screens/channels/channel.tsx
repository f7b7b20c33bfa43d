// A channel: its posts, the newest first, and for its owner the field to write one.
import { useSignal } from '@preact/signals'
import { type ChannelInfo, type ChannelPost, Channels, ClientError } from '@sotto/client'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button, ButtonLink, IconLink } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { TitleLink } from '../../parts/title-link.tsx'
import { attempt, notify, notifyError } from '../../session/notices.ts'
import { reporting } from '../../session/reporting.ts'
import { goFromHere, href } from '../../session/route.ts'
import { useLoaded } from '../../session/use-loaded.ts'
import { useSession } from '../../session/use-session.ts'
import { channelsTexts } from '../../texts/channels.ts'
import { numberOf } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { changes, channelsChanged } from './changed.ts'
import { Post } from './post.tsx'
import { PostForm } from './post-form.tsx'
import { PAGE_POSTS, type Posts, withNewest, withOlder, withoutPost, withPost } from './posts.ts'

export function Channel({ id }: { readonly id: string }) {
  const { client } = useSession()
  const info = useLoaded(() => new Channels(client).get(id), [id, changes.value])
  if (info.value) return <OpenChannel key={id} channel={info.value} />
  return (
    <Screen title="" back={href('channels')}>
      {info.error === undefined ? <Loading /> : <Failed error={info.error} isAlone onRetry={info.reload} />}
    </Screen>
  )
}

function OpenChannel({ channel }: { readonly channel: ChannelInfo }) {
  const { client } = useSession()
  const module = new Channels(client)
  const { id, name, sale_price } = channel
  const isOwner = channel.role === 'owner'
  const isSubscribed = channel.is_subscribed === true || channel.role === 'subscriber'
  const t = channelsTexts.value

  const subscribe = async (isOn: boolean): Promise<void> => {
    if (await attempt(() => (isOn ? module.subscribe(id) : module.unsubscribe(id)))) channelsChanged()
  }
  const buy = async (): Promise<void> => {
    const go = goFromHere()
    await attempt(async () => go(href('shop', 'orders', (await module.buy(id)).order_id)))
  }
  return (
    <Screen
      back={href('channels')}
      title={<TitleLink href={href('channels', id, 'about')} name={name} seed={id} />}
      actions={
        <>
          {!isOwner && (
            <Button kind={isSubscribed ? 'plain' : 'primary'} onClick={() => subscribe(!isSubscribed)}>
              {isSubscribed ? t.unsubscribe : t.subscribe}
            </Button>
          )}
          <IconLink
            icon={isOwner ? 'edit' : 'info'}
            label={isOwner ? t.edit : t.about}
            href={href('channels', id, 'about')}
          />
        </>
      }
      top={
        sale_price !== undefined &&
        !isOwner && (
          <div class="banner">
            <span style={{ flex: 1 }}>{t.forSale(numberOf(sale_price))}</span>
            <Button onClick={buy}>{t.buy}</Button>
          </div>
        )
      }
    >
      <PostsOf channel={channel} isOwner={isOwner} />
    </Screen>
  )
}

function PostsOf({ channel, isOwner }: { readonly channel: ChannelInfo; readonly isOwner: boolean }) {
  const { id, name } = channel
  const { client, network } = useSession()
  const module = new Channels(client)
  const posts = useSignal<Posts | undefined>(undefined)
  const isReading = useSignal(false)
  const deleting = useSignal<string | undefined>(undefined)
  const t = channelsTexts.value
  // A relay may answer more than was asked for.
  const read = async (before?: string): Promise<readonly ChannelPost[]> =>
    (await module.posts(id, { limit: PAGE_POSTS, ...(before === undefined ? {} : { before }) })).slice(
      0,
      PAGE_POSTS,
    )
  // What came while the newest were read: the relay may have read them before.
  const came = useRef<readonly ChannelPost[]>([])
  const readNewest = (): Promise<readonly ChannelPost[]> => {
    came.current = []
    return read()
  }
  // After an interruption the relay may have posts that were never sent here.
  const newest = useLoaded(readNewest, [id, network.value === 'connected'])
  useLayoutEffect(() => {
    if (newest.value) posts.value = came.current.reduce(withPost, withNewest(posts.value, newest.value))
  }, [newest.value])
  useLayoutEffect(
    () =>
      client.on('channel_post', ({ channelId, post }) => {
        if (channelId !== id) return
        came.current = [...came.current, post]
        if (posts.value) posts.value = withPost(posts.value, post)
      }),
    [id],
  )
  const readOlder = async (known: Posts): Promise<void> => {
    const oldest = known.list.at(-1)
    if (!oldest) return
    isReading.value = true
    await attempt(async () => {
      const page = await read(oldest.id)
      if (posts.value) posts.value = withOlder(posts.value, page)
    })
    isReading.value = false
  }
  const write = async (content: string): Promise<boolean> => {
    try {
      await module.post(id, content)
      return true
    } catch (error) {
      notifyError(error)
      return false
    } finally {
      // If it is unknown whether it was posted, the list shows it now.
      await newest.reload()
    }
  }
  const remove = async (postId: string): Promise<void> => {
    const isDone = await attempt(async () => {
      try {
        await module.deletePost(id, postId)
      } catch (error) {
        if (!(error instanceof ClientError) || error.refusal !== 'NOT_FOUND') throw error
      }
    })
    if (!isDone || !posts.value) return
    posts.value = withoutPost(posts.value, postId)
    notify(t.postDeleted)
  }
  const report = (postId: string): void => {
    reporting.value = { kind: 'post', name, channelId: id, postId }
  }
  const known = posts.value
  return (
    <div class="column channels-posts">
      {isOwner && <PostForm channelId={id} onPost={write} />}
      {!known ? (
        newest.error === undefined ? (
          <Loading />
        ) : (
          <Failed error={newest.error} onRetry={newest.reload} />
        )
      ) : known.list.length === 0 ? (
        <Empty
          icon="channels"
          title={t.noPosts}
          action={!isOwner && <ButtonLink href={href('channels', id, 'about')}>{t.about}</ButtonLink>}
        >
          {isOwner ? t.noPostsOwner : t.noPostsHint}
        </Empty>
      ) : (
        <ol class="channels-feed" aria-label={t.posts}>
          {known.list.map((post) => (
            <li key={post.id}>
              <Post
                post={post}
                onDelete={isOwner ? () => (deleting.value = post.id) : undefined}
                onReport={isOwner ? undefined : () => report(post.id)}
              />
            </li>
          ))}
        </ol>
      )}
      {known?.hasOlder && (
        <Button isBusy={isReading.value} onClick={() => readOlder(known)}>
          {t.older}
        </Button>
      )}
      {deleting.value !== undefined && (
        <Confirm
          title={t.deletePost}
          text={t.deletePostText}
          action={texts.value.common.delete}
          isDangerous
          onConfirm={() => remove(deleting.value ?? '')}
          onClose={() => (deleting.value = undefined)}
        />
      )}
    </div>
  )
}

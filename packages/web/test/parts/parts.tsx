// Every part in every state, on one page: for looking at, and for tests that compare it.
import { type ComponentChildren, render } from 'preact'
import { Avatar } from '../../src/parts/avatar.tsx'
import { Badge } from '../../src/parts/badge.tsx'
import { Button, ButtonLink, IconButton } from '../../src/parts/button.tsx'
import { Choice, Switch } from '../../src/parts/choice.tsx'
import { Confirm, Dialog } from '../../src/parts/dialog.tsx'
import { Failed } from '../../src/parts/failed.tsx'
import { TextField } from '../../src/parts/field.tsx'
import { Icon, type IconName } from '../../src/parts/icon.tsx'
import { iconPaths } from '../../src/parts/icon-paths.ts'
import { laterIconPaths } from '../../src/parts/later-icon-paths.ts'
import { lazy } from '../../src/parts/lazy.tsx'
import { Menu } from '../../src/parts/menu.tsx'
import { Notices } from '../../src/parts/notices.tsx'
import { PassphraseForm } from '../../src/parts/passphrase-form.tsx'
import { QrCode } from '../../src/parts/qr-code.tsx'
import { Row } from '../../src/parts/row.tsx'
import { Screen } from '../../src/parts/screen.tsx'
import { SearchField } from '../../src/parts/search-field.tsx'
import { Empty, Loading } from '../../src/parts/state.tsx'
import { StatusMark } from '../../src/parts/status-mark.tsx'
import { TitleLink } from '../../src/parts/title-link.tsx'
import { isLanguage, setLanguage } from '../../src/texts/texts.ts'
import '../../src/styles/forced-colors.css'

const nothing = (): void => {}
const allIcons = { ...iconPaths, ...laterIconPaths }
const isIcon = (name: string): name is IconName => Object.hasOwn(allIcons, name)
const iconNames = Object.keys(allIcons).filter(isIcon).sort()
const LazyAvatar = lazy(async () => Avatar)

function Group({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      {children}
    </section>
  )
}

function Parts({ dialog }: { readonly dialog: string }) {
  return (
    <main class="parts">
      <Group name="Icons">
        {iconNames.map((name) => (
          <Icon key={name} name={name} />
        ))}
      </Group>
      <Group name="Buttons">
        <Button kind="primary">Primary</Button>
        <Button icon="copy">Plain</Button>
        <Button kind="quiet">Quiet</Button>
        <Button kind="danger">Danger</Button>
        <Button isDisabled>Disabled</Button>
        <Button isBusy>Busy</Button>
        <ButtonLink href="#/" kind="primary" icon="plus">
          Link
        </ButtonLink>
        <IconButton icon="send" label="Send" kind="primary" />
        <IconButton icon="microphone" label="Mute" isPressed />
        <IconButton icon="hangUp" label="Hang up" kind="danger" />
        <Menu
          label="More"
          items={[
            { label: 'Copy', icon: 'copy', onClick: nothing },
            { label: 'Delete', icon: 'trash', onClick: nothing, isDangerous: true },
          ]}
        />
      </Group>
      <Group name="People and numbers">
        <Avatar name="Anna Berg" seed="1" size="small" />
        <Avatar name="Bob" seed="2" />
        <LazyAvatar name="علي" seed="3" size="large" />
        <Badge count={7} label="7 unread" />
        <Badge count={4711} label="4,711 unread" isMuted />
        {(['sending', 'sent', 'delivered', 'read', 'failed'] as const).map((status) => (
          <StatusMark key={status} status={status} />
        ))}
      </Group>
      <Group name="Fields">
        <SearchField label="Search" onSearch={nothing} />
        <TextField label="Empty" value="" onInput={nothing} placeholder="Placeholder" />
        <TextField label="With a hint" value="Text" onInput={nothing} hint="What it is for" />
        <TextField label="Wrong" value="tset" onInput={nothing} error="What is wrong with it" isCode />
        <TextField label="Secret" value="secret" onInput={nothing} isSecret />
        <TextField label="Long" value="One line after another" onInput={nothing} rows={3} />
        <Switch label="On" hint="What it does" isOn onChange={nothing} />
        <Switch label="Off" isOn={false} onChange={nothing} />
        <Choice
          label="Theme"
          value="dark"
          options={[
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark', hint: 'For the night' },
          ]}
          onChange={nothing}
        />
      </Group>
      <Group name="Rows">
        <Row
          lead={<Avatar name="Anna" seed="1" />}
          title="Anna"
          detail="See you tomorrow"
          end="14:05"
          href="#/"
        />
        <Row lead={<Avatar name="Bob" seed="2" />} title="Bob" detail="Current" href="#/" isCurrent />
        <Row title="A button" onClick={nothing} />
        <Row title="Neither" detail="Only text" />
      </Group>
      <Group name="States">
        <Empty icon="chats" title="Nothing here yet" action={<Button kind="primary">The next action</Button>}>
          Why, and what to do.
        </Empty>
        <Loading />
        <Failed error={new Error('for the page of parts')} onRetry={nothing} />
      </Group>
      <Group name="A QR code">
        <QrCode text="https://relay.example/#/add/anna" label="My alias as a QR code" />
      </Group>
      <Group name="A screen">
        <Screen title="Title" back="#/" actions={<IconButton icon="search" label="Search" />}>
          <div class="column">
            <div class="card">
              <h2>A card</h2>
              <p>With a text.</p>
            </div>
          </div>
        </Screen>
      </Group>
      <Group name="A title">
        <Screen
          title={<TitleLink href="#/" name="Anna Berg" seed="1" detail="writes…" />}
          back="#/"
          children=""
        />
      </Group>
      <Group name="A form">
        <PassphraseForm
          class="card"
          label="Passphrase"
          hint="What it opens"
          action="Open"
          kind="primary"
          onPassphrase={async () => {}}
        >
          <h2>A form</h2>
        </PassphraseForm>
      </Group>
      <Notices
        list={[
          { id: 1, text: 'Deleted', kind: 'info', action: { label: 'Undo', run: nothing } },
          { id: 2, text: 'The relay cannot be reached.', kind: 'error' },
        ]}
        onDone={nothing}
      />
      {dialog === 'dialog' && (
        <Dialog title="A dialog" onClose={nothing} actions={<Button kind="primary">Done</Button>}>
          <p>With a text.</p>
        </Dialog>
      )}
      {dialog === 'confirm' && (
        <Confirm
          title="Delete it?"
          text="It cannot be undone."
          action="Delete"
          isDangerous
          onConfirm={nothing}
          onClose={nothing}
        />
      )}
    </main>
  )
}

// `parts.html?language=ar&theme=dark&dialog=confirm`
const asked = new URLSearchParams(location.search)
const language = asked.get('language')
if (isLanguage(language)) await setLanguage(language)
document.documentElement.dataset.theme = asked.get('theme') ?? 'light'
render(<Parts dialog={asked.get('dialog') ?? ''} />, document.querySelector('#app') ?? document.body)

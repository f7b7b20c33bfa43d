// The controls of a call.
import { Icon, type IconName } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import type { DeviceOfKind, Picture } from '../../session/calls/own-media.ts'
import { callsTexts } from '../../texts/calls.ts'
import './call-controls.css'

interface CallControlsProps {
  readonly isMuted: boolean
  /** What is sent as video. */
  readonly picture: Picture['kind'] | undefined
  readonly devices: readonly MediaDeviceInfo[]
  readonly used: DeviceOfKind
  readonly onMute: (isMuted: boolean) => void
  readonly onCamera: (isOn: boolean) => void
  readonly onSwitchCamera: () => void
  readonly onShare: (isOn: boolean) => void
  readonly onChoose: (device: MediaDeviceInfo) => void
  readonly onHangUp: () => void
}

const DEVICE_ICONS: Readonly<Record<MediaDeviceKind, IconName>> = {
  audioinput: 'microphone',
  videoinput: 'camera',
  audiooutput: 'speaker',
}

export function CallControls(props: CallControlsProps) {
  const { isMuted, picture, devices, used } = props
  const t = callsTexts.value
  const isOn = picture === 'camera'
  const isSharing = picture === 'screen'
  const cameras = devices.filter(({ kind }) => kind === 'videoinput').length
  // A device without an id cannot be chosen: the browser hides what the user has not allowed.
  const offered = devices.filter(({ deviceId, kind }) => deviceId !== '' && canChoose(kind))
  return (
    <div class="call-controls">
      <Control
        icon={isMuted ? 'microphoneOff' : 'microphone'}
        label={t.mute}
        isPressed={isMuted}
        onClick={() => props.onMute(!isMuted)}
      />
      <Control
        icon={isOn ? 'video' : 'videoOff'}
        label={t.camera}
        isPressed={isOn}
        onClick={() => props.onCamera(!isOn)}
      />
      {isOn && cameras > 1 && (
        <Control icon="switchCamera" label={t.switchCamera} onClick={props.onSwitchCamera} />
      )}
      {'getDisplayMedia' in navigator.mediaDevices && (
        <Control
          icon="screen"
          label={t.share}
          isPressed={isSharing}
          onClick={() => props.onShare(!isSharing)}
        />
      )}
      <span class="call-control">
        <Menu
          label={t.devices}
          icon="settings"
          items={offered.map((device, at) => ({
            label: device.label || t.device(at + 1),
            icon: used[device.kind] === device.deviceId ? 'check' : DEVICE_ICONS[device.kind],
            onClick: () => props.onChoose(device),
          }))}
        />
        <span class="call-control-label" aria-hidden="true">
          {t.devices}
        </span>
      </span>
      <Control icon="hangUp" label={t.hangUp} isDangerous onClick={props.onHangUp} />
    </div>
  )
}

interface ControlProps {
  readonly icon: IconName
  readonly label: string
  readonly isPressed?: boolean
  readonly isDangerous?: boolean
  readonly onClick: () => void
}

function Control({ icon, label, isPressed, isDangerous = false, onClick }: ControlProps) {
  return (
    <button
      type="button"
      class="call-control"
      aria-pressed={isPressed}
      data-dangerous={isDangerous}
      onClick={onClick}
    >
      <span class="call-control-icon">
        <Icon name={icon} />
      </span>
      <span class="call-control-label">{label}</span>
    </button>
  )
}

function canChoose(kind: MediaDeviceKind): boolean {
  return kind !== 'audiooutput' || 'setSinkId' in HTMLMediaElement.prototype
}

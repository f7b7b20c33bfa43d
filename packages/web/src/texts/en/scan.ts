// Scanning QR codes.
export const scan = {
  scan: 'Scan a QR code',
  withCamera: 'Use the camera',
  fromPicture: 'Or choose a picture of the code',
  camera: 'What the camera sees',
  hold: 'Hold the code before the camera.',
  stop: 'Stop the camera',
  noCamera: 'The camera cannot be used. Allow it for this page in the browser, or choose a picture.',
  noCode: 'There is no QR code in this picture that can be read.',
  noPicture: 'This is no picture that the browser can open.',
  notAnInvitation: 'This code invites nobody.',
  notASecurityCode: 'This is not a security code. Ask for the one beside yours.',
  differs: 'The codes differ. Somebody may be between you: write nothing confidential.',
}

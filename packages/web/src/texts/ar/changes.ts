import type { changes as en } from '../en/changes.ts'
import { plural } from '../plural.ts'

// What is changed of messages that were sent: edits of one's own, and reactions to those of both sides.
export const changes: typeof en = {
  react: 'تفاعل',
  quick: {
    '👍': 'إعجاب',
    '❤️': 'قلب',
    '😂': 'ضحك حتى البكاء',
    '😮': 'دهشة',
    '😢': 'بكاء',
    '🙏': 'شكر',
  },
  otherEmoji: 'رمز آخر',
  reactTitle: 'التفاعل برمز تعبيري',
  emojiOrName: 'اسم الرمز، أو الرمز نفسه',
  list: 'رموز تعبيرية',
  noEmojiFound: 'لا رمز بهذا الاسم هنا. يمكنك إدخال رمز آخر من لوحة مفاتيحك.',
  oneEmoji: 'ليس هذا رمزًا تعبيريًا واحدًا. أدخل رمزًا واحدًا، أو اختره من القائمة.',
  edit: 'تعديل',
  editing: 'تعديل رسالتك',
  newText: 'نص الرسالة الجديد',
  notReactable: 'لم يعد التفاعل مع هذه الرسالة ممكنًا.',
  notEditable: 'لم يعد تعديل هذه الرسالة ممكنًا.',

  // For screen readers, as it comes.
  heardEdit: (name, text) => `عدّل ${name} رسالة: ${text}`,
  heardReaction: (name, emoji, text) => `تفاعل ${name} بـ${emoji} مع: ${text}`,
  heardTakenBack: (name, text) => `سحب ${name} تفاعله مع: ${text}`,
  heardChanges: (name, count) =>
    `${name}: ${plural('ar', count, {
      zero: 'لا تعديلات ولا تفاعلات',
      one: 'تعديل أو تفاعل واحد',
      two: 'تعديلان أو تفاعلان',
      few: '# تعديلات وتفاعلات',
      other: '# تعديلًا وتفاعلًا',
    })}`,
}

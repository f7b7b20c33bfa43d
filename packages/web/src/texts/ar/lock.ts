import type { Texts } from '../en/en.ts'

// The locked app.
export const lock: Texts['lock'] = {
  title: 'مقفل',
  text: 'أدخل عبارة المرور لفتح رسائلك.',
  passphrase: 'عبارة المرور',
  unlock: 'فتح',
  unlocking: 'يستغرق الفتح بضع ثوان…',
  forgotten: 'نسيتها؟ استرد الحساب بالكلمات الاثنتي عشرة',
}

import type { scan as en } from '../en/scan.ts'

// Scanning QR codes.
export const scan: typeof en = {
  scan: 'مسح رمز QR',
  withCamera: 'استخدام الكاميرا',
  fromPicture: 'أو اختر صورة للرمز',
  camera: 'ما تراه الكاميرا',
  hold: 'ضع الرمز أمام الكاميرا.',
  stop: 'إيقاف الكاميرا',
  noCamera: 'تعذّر استخدام الكاميرا. اسمح بها لهذه الصفحة في المتصفح، أو اختر صورة.',
  noCode: 'لا يوجد في هذه الصورة رمز QR يمكن قراءته.',
  noPicture: 'هذه ليست صورة يستطيع المتصفح فتحها.',
  notAnInvitation: 'هذا الرمز لا يدعو إلى أحد.',
  notASecurityCode: 'هذا ليس رمز أمان. اطلب الرمز المقابل لرمزك.',
  differs: 'الرمزان مختلفان. قد يكون بينكما أحد: لا تكتب شيئًا سريًا.',
}

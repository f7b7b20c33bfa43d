// The emoji that are completed, by the English names that people know from other messengers. Others come
// from the system's own picker.
import { emojiIn } from '../emoji-names.ts'

/** Every emoji, once for each of its names. */
export const emojiList = emojiIn(`
grinning 😀 smiley 😃 smile 😄 grin 😁 laughing 😆 sweat_smile 😅 joy 😂 rofl 🤣 slightly_smiling 🙂
upside_down 🙃 wink 😉 blush 😊 innocent 😇 in_love 🥰 heart_eyes 😍 star_struck 🤩 kiss 😘 yum 😋 tongue 😛
zany 🤪 money_mouth 🤑 hug 🤗 giggle 🤭 shush 🤫 thinking 🤔 zipper_mouth 🤐 raised_eyebrow 🤨 neutral 😐
expressionless 😑 smirk 😏 unamused 😒 eye_roll 🙄 grimace 😬 relieved 😌 pensive 😔 sleepy 😪 sleeping 😴
mask 😷 sick 🤒 nauseated 🤢 sneeze 🤧 hot 🥵 cold 🥶 dizzy 😵 mind_blown 🤯 cowboy 🤠 party 🥳 sunglasses 😎
nerd 🤓 confused 😕 worried 😟 frown 🙁 open_mouth 😮 astonished 😲 flushed 😳 pleading 🥺 fearful 😨 anxious
😰 cry 😢 sob 😭 scream 😱 disappointed 😞 sweat 😓 weary 😩 tired 😫 yawn 🥱 triumph 😤 angry 😠 rage 😡 swear
🤬 skull 💀 poop 💩 clown 🤡 ghost 👻 alien 👽 robot 🤖 see_no_evil 🙈 hear_no_evil 🙉 speak_no_evil 🙊 heart
❤️ orange_heart 🧡 yellow_heart 💛 green_heart 💚 blue_heart 💙 purple_heart 💜 black_heart 🖤
broken_heart 💔 sparkling_heart 💖 hundred 💯 anger 💢 boom 💥 dash 💨 zzz 💤 wave 👋 raised_hand ✋ ok_hand
👌 pinched 🤌 victory ✌️ crossed_fingers 🤞 love_you 🤟 call_me 🤙 point_left 👈 point_right 👉 point_up 👆
point_down 👇 thumbs_up 👍 +1 👍 thumbs_down 👎 fist ✊ punch 👊 clap 👏 raised_hands 🙌 open_hands 👐
handshake 🤝 pray 🙏 thanks 🙏 writing ✍️ muscle 💪 eyes 👀 brain 🧠 shrug 🤷 facepalm 🤦 bow 🙇 running 🏃
dancing 💃 baby 👶 family 👪 dog 🐶 cat 🐱 mouse 🐭 rabbit 🐰 fox 🦊 bear 🐻 panda 🐼 tiger 🐯 lion 🦁 cow 🐮 pig
🐷 frog 🐸 monkey 🐵 chicken 🐔 penguin 🐧 bird 🐦 owl 🦉 horse 🐴 unicorn 🦄 bee 🐝 butterfly 🦋 snail 🐌
turtle 🐢 snake 🐍 octopus 🐙 fish 🐟 whale 🐳 flower 🌸 rose 🌹 sunflower 🌻 tulip 🌷 tree 🌳 palm 🌴 cactus 🌵
clover 🍀 leaves 🍃 mushroom 🍄 sun ☀️ moon 🌙 star ⭐ sparkles ✨ cloud ☁️ rain 🌧️ snow ❄️ snowman ⛄ fire
🔥 rainbow 🌈 umbrella ☔ lightning ⚡ ocean 🌊 apple 🍎 banana 🍌 grapes 🍇 strawberry 🍓 watermelon 🍉 lemon
🍋 peach 🍑 cherry 🍒 avocado 🥑 tomato 🍅 bread 🍞 cheese 🧀 egg 🥚 burger 🍔 fries 🍟 pizza 🍕 sandwich 🥪
taco 🌮 salad 🥗 soup 🍲 sushi 🍣 rice 🍚 pasta 🍝 cake 🍰 birthday 🎂 cookie 🍪 chocolate 🍫 icecream 🍦
popcorn 🍿 coffee ☕ tea 🍵 beer 🍺 cheers 🍻 wine 🍷 football ⚽ basketball 🏀 tennis 🎾 trophy 🏆 medal 🏅
guitar 🎸 music 🎵 headphones 🎧 movie 🎬 game 🎮 dice 🎲 art 🎨 car 🚗 taxi 🚕 bus 🚌 train 🚆 bike 🚲 plane ✈️
rocket 🚀 ship 🚢 house 🏠 office 🏢 hospital 🏥 school 🏫 mountain ⛰️ beach 🏖️ camping 🏕️ map 🗺️ globe 🌍
gift 🎁 balloon 🎈 tada 🎉 confetti 🎊 lantern 🏮 phone 📱 laptop 💻 camera 📷 bulb 💡 book 📖 books 📚 pencil
✏️ memo 📝 calendar 📅 clock 🕐 hourglass ⏳ alarm ⏰ mail ✉️ package 📦 money 💰 key 🔑 lock 🔒 tool 🔧
hammer 🔨 magnet 🧲 pill 💊 bomb 💣 bell 🔔 mute 🔕 search 🔍 link 🔗 pin 📌 paperclip 📎 check ✅ cross ❌
question ❓ exclamation ❗ warning ⚠️ stop 🛑 recycle ♻️ peace ☮️ flag 🏁 white_flag 🏳️ new 🆕 ok 🆗 sos 🆘`)

; pghaul's installer for Windows: for whoever is signed in, without an administrator's rights. installer/desktop.py runs
; makensis on it and defines VERSION, FROZEN (PyInstaller's folder), ICON, LICENCE and OUTPUT.
Unicode true
!include MUI2.nsh

Name "pghaul"
BrandingText "pghaul ${VERSION}"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\pghaul"
RequestExecutionLevel user
SetCompressor /SOLID lzma
SetDateSave off
ManifestDPIAware true

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\pghaul"
!define START "Software\Microsoft\Windows\CurrentVersion\App Paths\pghaul.exe"
!define SHORTCUT "$SMPROGRAMS\pghaul.lnk"

VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "pghaul"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Installs pghaul"
VIAddVersionKey "LegalCopyright" "The pghaul founders"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\pghaulw.exe"
!insertmacro MUI_PAGE_LICENSE "${LICENCE}"
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; Takes out what an installation has put there, and nothing that somebody else has: history and settings lie elsewhere.
; A program that runs goes on reading its folder, and Windows locks its .exe alone: the folder goes once both are gone.
; The window goes first: while it is open nothing at all is taken from it.
!macro remove AGAIN
  ClearErrors
  Delete "$INSTDIR\pghaulw.exe"
  IfErrors running
  Delete "$INSTDIR\pghaul.exe"
  IfErrors 0 ended
  running:
    SetErrorLevel 2
    Abort "pghaul is running: close its window, let its commands end, then ${AGAIN} again."
  ended:
  RMDir /r "$INSTDIR\_internal"
  IfFileExists "$INSTDIR\_internal\*.*" 0 removed
    SetErrorLevel 2
    Abort "Something uses $INSTDIR\_internal: close it, then ${AGAIN} again."
  removed:
!macroend

Section
  !insertmacro remove "install" ; an earlier version, whose files may have had other names
  SetOutPath "$INSTDIR"
  File /r "${FROZEN}\*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "${SHORTCUT}" "$INSTDIR\pghaulw.exe"
  WriteRegStr HKCU "${START}" "" "$INSTDIR\pghaul.exe"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "pghaul"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\pghaulw.exe"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "The pghaul founders"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
SectionEnd

Section "Uninstall"
  !insertmacro remove "uninstall"
  Delete "${SHORTCUT}"
  DeleteRegKey HKCU "${START}"
  DeleteRegKey HKCU "${UNINSTALL}"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
SectionEnd

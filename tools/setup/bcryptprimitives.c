/* The function of bcryptprimitives.dll that Go programs call. Windows has the library, and Wine
   has it from version 9 on. tools/setup/wine.sh compiles this for older ones. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
	return RtlGenRandom(data, (ULONG)size);
}
